"""Load on the service: requests a second and latency, next to a bare echo on the same stack.

    apt-get install wrk && python benchmarks/load.py --seconds 5 --sync-delay 2 5 10

The server runs on core 0, wrk on core 1. ``recommend`` ranks 50 candidates of 20 features for one
of 1,000 users with some history; feedback is durable when answered. ``--sync-delay`` measures what
group commit is worth on slower disks too: every sync takes longer by so many milliseconds.
``--callers`` compares lists with their echo, a bare ASGI callable, for other numbers of callers.
Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import msgspec
import numpy as np
from wrk import wrk

from clubcascade.service import Recommender

D, CANDIDATES, K, USERS, CALLERS = 20, 50, 4, 1_000, 64
HISTORY = 20
"""Answers that each user has given before: the first ones of a user take longer to learn."""
SLOW_DISK = str(Path(__file__).parent / "slow_disk.py")
WARM_UP = 4
"""Seconds of load before anything is measured."""

ECHO = """
import msgspec, uvicorn, sys
decode, encode = msgspec.json.decode, msgspec.json.encode
async def echo(scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message.get("more_body", False)
    out = encode(decode(body)) if body else b""
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(out))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": out})
uvicorn.run(echo, port=int(sys.argv[1]), log_level="warning", access_log=False, lifespan="off")
"""


def wait_for(url: str) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            if httpx.get(url).status_code < 500:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{url} did not answer")


def start(*command: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Start Python on the core of the server."""
    return subprocess.Popen(["taskset", "-c", "0", sys.executable, *command], stdout=stdout)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server."""
    process.terminate()
    process.wait()


def fsync_each(delay: float) -> float:
    """Commits a second, one event each, on the core of the server."""
    with tempfile.TemporaryDirectory() as folder:
        alone = start(SLOW_DISK, str(delay), "commits", folder, stdout=subprocess.PIPE)
        return float(alone.communicate()[0])


def told(url: str, name: str) -> dict[str, int]:
    """Return what the service counts under a name, by labels."""
    lines = re.findall(rf"^{name}(\S*) (\S+)$", httpx.get(f"{url}/metrics").text, re.M)
    return {labels: int(float(value)) for labels, value in lines}


def commits(url: str) -> int:
    """Return how often the service has committed."""
    return told(url, "clubcascade_commits")[""]


def text(value: object) -> str:
    """Return JSON."""
    return msgspec.json.encode(value).decode()


class Load:
    """A store with decisions that wait for answers, requests for it, and what was measured.

    Parameters
    ----------
    home
        A folder for everything.
    options
        The command line.
    """

    def __init__(self, home: Path, options: argparse.Namespace) -> None:
        self.home, self.seconds, self.port = home, options.seconds, options.port
        self.callers, self.only_lists = options.callers, options.lists
        self.url = f"http://127.0.0.1:{options.port}"
        self.rows: dict[str, dict[str, str]] = {}
        rng = np.random.default_rng(1)
        items = rng.standard_normal((1_000, D))
        items *= 0.99 / np.linalg.norm(items, axis=1, keepdims=True)
        with Recommender(home / "made" / "store", n_features=D) as shop:
            shop.register_items(range(1_000), items)
            for _ in range(HISTORY):
                shown = [shop.recommend(user, K).id for user in range(USERS)]
                shop.feedback_many([(one, at % K) for at, one in enumerate(shown)])
            each = rng.integers(USERS, size=options.decisions).tolist()
            self.made = [shop.recommend(user, K).id for user in each]
        self.clicks = [text({"decision_id": one, "click": 1}) for one in self.made]
        users = rng.integers(USERS, size=500).tolist()
        asked = [(user, rng.choice(1_000, CANDIDATES, replace=False)) for user in users]
        self.lists = {
            "by id": [text({"user": u, "k": K, "candidates": c.tolist()}) for u, c in asked],
            "with features": [
                text({"user": u, "k": K, "items": items[c].round(6).tolist()}) for u, c in asked
            ],
            "user only": [text({"user": u, "k": K}) for u, _ in asked],
        }

    def serve(self, delay: float) -> subprocess.Popen[bytes]:
        """Start the service on a copy of the store; it is warm when this returns."""
        folder = self.home / "served"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.home / "made", folder)
        service = start(
            *(SLOW_DISK, str(delay), "serve", "--dir", str(folder)),
            *("--no-auth", "--rate", "0", "--port", str(self.port)),
        )
        wait_for(f"{self.url}/readyz")
        wrk(f"{self.url}/v1/default/recommend", self.lists["by id"], CALLERS, WARM_UP, service)
        return service

    def echo(self) -> None:
        """Measure a bare echo of the same requests: the most that HTTP can do here."""
        server = start("-c", ECHO, str(self.port))
        try:
            wait_for(self.url)
            wrk(f"{self.url}/v1/x/recommend", self.lists["by id"], CALLERS, WARM_UP, server)
            every = () if self.only_lists else (*self.lists.items(), ("feedback", self.clicks))
            for name, bodies in every:
                seen = wrk(f"{self.url}/v1/x/echo", bodies, CALLERS, self.seconds, server)
                self.rows[f"echo of that request, {name}"] = seen
            self._lists("echo", f"{self.url}/v1/x/recommend", server)
        finally:
            stop(server)

    def _lists(self, what: str, where: str, server: subprocess.Popen[bytes]) -> None:
        for callers in self.callers:
            seen = wrk(where, self.lists["by id"], callers, self.seconds, server)
            self.rows[f"{what}, by id, {callers} callers"] = seen

    def _check(self) -> None:
        """Raise if decisions were answered twice: that is less work."""
        if any("applied" not in labels for labels in told(self.url, "clubcascade_feedback_total")):
            raise SystemExit("there were too few decisions for so many callers: more --decisions")

    def service(self) -> None:
        """Measure lists, lone callers and batches."""
        service = self.serve(0)
        try:
            if self.only_lists:
                self._lists("recommend", f"{self.url}/v1/default/recommend", service)
                return
            for name, bodies in self.lists.items():
                where = f"{self.url}/v1/default/recommend"
                seen = wrk(where, bodies, CALLERS, self.seconds, service)
                self.rows[f"recommend, {name}"] = seen
            self._lists("recommend", f"{self.url}/v1/default/recommend", service)
            few = 4_000 * self.seconds  # enough for a lone caller
            some = [{"decision_id": one, "click": 1} for one in self.made[few:]]
            batches = [text({"feedback": some[at : at + 100]}) for at in range(0, len(some), 100)]
            where = f"{self.url}/v1/default/feedback"
            seen = wrk(where, self.clicks[:few], 1, self.seconds, service)
            self.rows["durable feedback, 1 caller"] = seen
            seen = wrk(where, batches, 8, self.seconds, service)
            self.rows["durable feedback, batches of 100, 8 callers"] = seen
            self._check()
        finally:
            stop(service)

    def together(self, delay: float) -> list[str]:
        """Measure many callers against one commit per event, on a disk that is slower by that."""
        service = self.serve(delay)
        try:
            each, before = fsync_each(delay), commits(self.url)
            where = f"{self.url}/v1/default/feedback"
            seen = wrk(where, self.clicks, CALLERS, self.seconds, service)
            group = float(seen["rate"]) * self.seconds / (commits(self.url) - before)
            self._check()
            each = (each + fsync_each(delay)) / 2  # just before and just after
        finally:
            stop(service)
        slower = f", syncs {delay:g} ms slower" if delay else ""
        self.rows[f"durable feedback, {CALLERS} callers{slower}"] = seen
        rate, cpu_time, commit = float(seen["rate"]), float(seen["cpu"]) / 1e6, 1 / each
        most = CALLERS * commit / (commit + CALLERS * cpu_time)
        return [
            f"{delay:g}",
            f"{commit * 1e3:.2f}",
            f"{each:,.0f}",
            f"{rate:,.0f}",
            f"{group:.0f}",
            seen["cpu"],
            f"{rate / each:.1f}",
            f"{most:.1f}",
            f"{float(self.rows['echo of that request, feedback']['rate']) / each:.1f}",
        ]

    def shares(self) -> dict[str, float]:
        """Return how lists compare with their echo."""
        found: dict[str, float] = {}
        each = () if self.only_lists else self.lists
        pairs = {name: ("echo of that request, ", name) for name in each}
        pairs |= {
            f"by id, {callers} callers": ("echo, ", f"by id, {callers} callers")
            for callers in self.callers
        }
        for name, (echo, what) in pairs.items():
            ranked, echoed = self.rows[f"recommend, {what}"], self.rows[f"{echo}{what}"]
            by_cpu = float(echoed["cpu"]) / float(ranked["cpu"])
            by_rate = float(ranked["rate"]) / float(echoed["rate"])
            found[f"recommend {name} / echo, by CPU"] = round(by_cpu, 2)
            found[f"recommend {name} / echo, by rate"] = round(by_rate, 2)
        return found


def table(head: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--port", type=int, default=18_080)
    parser.add_argument("--callers", type=int, nargs="*", default=[1, 64, 512])
    parser.add_argument("--lists", action="store_true", help="lists by id and their echo alone")
    parser.add_argument("--sync-delay", type=float, nargs="*", default=[], metavar="MS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load(Path(folder), options)
        load.echo()
        load.service()
        delays = [] if options.lists else [0.0, *options.sync_delay]
        disks = [load.together(delay) for delay in delays]
    about = {"cores": os.cpu_count(), "load average": os.getloadavg()[0], **load.shares()}
    print(json.dumps(about, indent=1))
    keys = ["rate", "50%", "99%", "cpu", "bad"]
    table(
        ["", "requests/s", "p50", "p99", "server's CPU, us/request", "refused"],
        [[name, *(seen[key] for key in keys)] for name, seen in load.rows.items()],
    )
    if options.lists:
        return
    print()
    table(
        ["sync slower by, ms", "one commit, ms", "one commit per event, a second"]
        + [f"{CALLERS} callers, a second", "answers in a commit", "CPU, us/answer (c)"]
        + ["factor", "at most: n T / (T + n c)", "an echo instead"],
        disks,
    )


if __name__ == "__main__":
    main()
