"""An hour of load: memory and file handles must stay flat, and the log must stay short.

    python benchmarks/soak.py --minutes 60 --rate 100

Starts ``clubcascade serve``, sends lists and clicks with several clients, and prints every minute:
requests, CPU, resident memory, open files, size of the database with its write-ahead log, events in
the log, size of the snapshots.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

D, K, USERS = 20, 4, 500


async def client(url: str, number: int, until: float, done: list[int], pause: float) -> None:
    rng = np.random.default_rng(number)
    async with httpx.AsyncClient(base_url=url, timeout=30) as http:
        while time.monotonic() < until:
            await asyncio.sleep(rng.exponential(pause))
            body = {"user": int(rng.integers(USERS)), "k": K}
            found = (await http.post("/v1/default/recommend", json=body)).json()
            click = None if rng.random() < 0.3 else int(rng.integers(K))
            done[0] += 1
            if rng.random() < 0.95:
                answer = {"decision_id": found["decision_id"], "click": click}
                (await http.post("/v1/default/feedback", json=answer)).raise_for_status()
                done[0] += 1


def memory(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=60, help="seconds between two lines")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0, help="requests a second; 0: any number")
    parser.add_argument("--port", type=int, default=18_090)
    parser.add_argument("--snapshot-every", type=int, default=20_000)
    parser.add_argument("--wait", type=float, default=120)
    options = parser.parse_args()
    home = tempfile.TemporaryDirectory()
    command = [sys.executable, "-m", "clubcascade", "serve", "--dir", home.name, "--no-auth"]
    command += ["--port", str(options.port), "--n-features", str(D), "--rate", "0"]
    command += ["--snapshot-every", str(options.snapshot_every), "--wait", str(options.wait)]
    server = subprocess.Popen(command)
    url = f"http://127.0.0.1:{options.port}"
    try:
        async with httpx.AsyncClient(base_url=url) as http:
            while True:
                try:
                    if (await http.get("/readyz")).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)
            rng = np.random.default_rng(1)
            items = rng.standard_normal((500, D))
            items *= 0.99 / np.linalg.norm(items, axis=1, keepdims=True)
            rows = [{"id": n, "features": row} for n, row in enumerate(items.tolist())]
            (await http.put("/v1/default/items", json={"items": rows})).raise_for_status()
        start = time.monotonic()
        until, done = start + 60 * options.minutes, [0]
        pause = 1.95 * options.clients / options.rate if options.rate else 0.0
        work = [
            asyncio.create_task(client(url, n, until, done, pause)) for n in range(options.clients)
        ]
        print(
            "| minute | requests | server's CPU s | resident MiB | open files | database MiB "
            "| log events | snapshots MiB |"
        )
        print("|---|---|---|---|---|---|---|---|")
        while time.monotonic() < until:
            await asyncio.sleep(min(options.every, max(0.1, until - time.monotonic())))
            handles = len(os.listdir(f"/proc/{server.pid}/fd"))
            database = Path(home.name) / "store" / "store.db"
            look = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
            events = look.execute("SELECT count(*) FROM log").fetchone()[0]
            look.close()
            size = sum(f.stat().st_size for f in database.parent.glob("store.db*")) / 2**20
            kept = sum(f.stat().st_size for f in database.parent.glob("snapshots/*")) / 2**20
            minute = (time.monotonic() - start) / 60
            print(
                f"| {minute:.1f} | {done[0]} | {cpu(server.pid):.0f} | {memory(server.pid):.0f} "
                f"| {handles} | {size:.0f} | {events} | {kept:.0f} |",
                flush=True,
            )
        await asyncio.gather(*work)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    asyncio.run(main())
