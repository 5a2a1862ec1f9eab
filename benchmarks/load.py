"""Load on the service: requests a second and latency, next to a bare echo on the same stack.

    apt-get install wrk && python benchmarks/load.py --seconds 10

The server runs on core 0, wrk on core 1. ``recommend`` ranks 50 candidates of 20 features for one
of 1,000 users; feedback is durable when answered. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import msgspec
import numpy as np

from clubcascade.service import Recommender
from clubcascade.storage import Batch, open_store

D, CANDIDATES, K, USERS = 20, 50, 4, 1_000
WARM_UP = 4
"""Seconds of load before anything is measured."""

ECHO = """
import msgspec, uvicorn, sys
from starlette.routing import Route, Router
decode, encode = msgspec.json.decode, msgspec.json.encode
class Echo:
    async def __call__(self, scope, receive, send):
        body = (await receive())["body"]
        out = encode(decode(body))
        head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(out))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": out})
app = Router(routes=[Route("/v1/{model}/recommend", Echo(), methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
"""

POST = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local bodies = {}
for line in io.lines("%s") do bodies[#bodies + 1] = line end
local at = 0
function request()
  at = at + 1
  if at > #bodies then at = 1 end
  return wrk.format(nil, nil, nil, bodies[at])
end
"""


def cpu(pid: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(
    url: str, bodies: list[str], callers: int, seconds: int, server: subprocess.Popen[bytes]
) -> dict[str, str]:
    """Send bodies for a while; return what wrk measured, and what the server computed."""
    before = cpu(server.pid)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "bodies", Path(folder) / "post.lua"
        data.write_text("\n".join(bodies))
        script.write_text(POST % data)
        done = subprocess.run(
            f"taskset -c 1 wrk -t1 -c{callers} -d{seconds}s --latency -s {script} {url}",
            shell=True,
            capture_output=True,
            text=True,
            check=True,
        )
    found = {"rate": re.search(r"Requests/sec:\s+(\S+)", done.stdout)[1]}  # type: ignore[index]
    for name in ("50%", "99%"):
        found[name] = re.search(rf"{name}\s+(\d\S+)", done.stdout)[1]  # type: ignore[index]
    total = int(re.search(r"(\d+) requests in", done.stdout)[1])  # type: ignore[index]
    found["cpu"] = f"{(cpu(server.pid) - before) / max(total, 1) * 1e6:.0f}"
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    found["bad"] = bad[1] if bad else "0"
    return found


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


def fsync_each(seconds: float) -> float:
    """Commits a second, one event each, on the core of the server."""
    home = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        store, number = open_store(folder), 0
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            number += 1
            store.commit(Batch(events=[(number, b"x" * 700)]))
        rate = number / (time.perf_counter() - start)
        store.close()
    os.sched_setaffinity(0, home)
    return rate


def commits(url: str) -> int:
    """Return how often the service has committed."""
    text = httpx.get(f"{url}/metrics").text
    return int(float(re.search(r"^clubcascade_commits (\S+)", text, re.M)[1]))  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--port", type=int, default=18_080)
    options = parser.parse_args()
    home = tempfile.TemporaryDirectory()
    rng = np.random.default_rng(1)
    items = rng.standard_normal((1_000, D))
    items *= 0.99 / np.linalg.norm(items, axis=1, keepdims=True)
    text = lambda value: msgspec.json.encode(value).decode()  # noqa: E731
    with Recommender(f"{home.name}/store", n_features=D) as shop:
        shop.register_items(range(1_000), items)
        for user in range(USERS):
            shop.feedback(shop.recommend(user, K).id, 0)
        made = [shop.recommend(int(rng.integers(USERS)), K).id for _ in range(options.decisions)]
    users = rng.integers(USERS, size=500).tolist()
    chosen = [rng.choice(1_000, CANDIDATES, replace=False).tolist() for _ in users]
    by_id = [text({"user": u, "k": K, "candidates": c}) for u, c in zip(users, chosen, strict=True)]
    whole = [
        text({"user": u, "k": K, "items": items[c].round(6).tolist()})
        for u, c in zip(users, chosen, strict=True)
    ]
    catalog = [text({"user": u, "k": K}) for u in users]
    clicks = [text({"decision_id": one, "click": 1}) for one in made]
    batches = [
        text({"feedback": [{"decision_id": one, "click": 1} for one in made[at : at + 100]]})
        for at in range(len(made) // 2, len(made), 100)
    ]
    clicks = clicks[: len(clicks) // 2]
    rows: list[tuple[str, dict[str, str]]] = []

    def serve(*command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["taskset", "-c", "0", sys.executable, *command])

    url = f"http://127.0.0.1:{options.port}"
    echo = serve("-c", ECHO, str(options.port))
    try:
        wait_for(url)
        wrk(f"{url}/v1/x/recommend", by_id, 64, WARM_UP, echo)
        for name, bodies in (("by id", by_id), ("with features", whole), ("user only", catalog)):
            seen = wrk(f"{url}/v1/x/recommend", bodies, 64, options.seconds, echo)
            rows.append((f"echo of that request, {name}", seen))
    finally:
        echo.terminate()
        echo.wait()
    base = ["-m", "clubcascade", "serve", "--dir", home.name, "--no-auth", "--rate", "0"]
    service = serve(*base, "--port", str(options.port))
    try:
        wait_for(f"{url}/readyz")
        wrk(f"{url}/v1/default/recommend", by_id, 64, WARM_UP, service)
        for name, bodies in (("by id", by_id), ("with features", whole), ("user only", catalog)):
            seen = wrk(f"{url}/v1/default/recommend", bodies, 64, options.seconds, service)
            rows.append((f"recommend, {name}", seen))
        few = len(clicks) // 8
        single = [fsync_each(2.0)]
        for callers, bodies in ((1, clicks[:few]), (64, clicks[few:])):
            before = commits(url)
            seen = wrk(f"{url}/v1/default/feedback", bodies, callers, options.seconds, service)
            rows.append((f"durable feedback, {callers} callers", seen))
            group = float(seen["rate"]) * options.seconds / (commits(url) - before)
            single.append(fsync_each(2.0))
        seen = wrk(f"{url}/v1/default/feedback", batches, 8, options.seconds, service)
        rows.append(("durable feedback, batches of 100, 8 callers", seen))
        outcomes = [
            line
            for line in httpx.get(f"{url}/metrics").text.splitlines()
            if line.startswith("clubcascade_feedback_total")
        ]
    finally:
        service.terminate()
        service.wait()
    told = {name: seen for name, seen in rows}
    ratios: dict[str, object] = {"cores": os.cpu_count(), "load average": os.getloadavg()[0]}
    for name in ("by id", "with features", "user only"):
        echoed, ranked = told[f"echo of that request, {name}"], told[f"recommend, {name}"]
        shares = int(echoed["cpu"]) / int(ranked["cpu"])
        ratios[f"recommend {name} / echo, by CPU"] = round(shares, 2)
        ratios[f"recommend {name} / echo, by rate"] = round(
            float(ranked["rate"]) / float(echoed["rate"]), 2
        )
    around = (single[1] + single[2]) / 2  # before and after the 64 callers
    ratios["one fsync per event, a second"] = [round(each) for each in single]
    ratios["64 callers / one fsync per event"] = round(
        float(told["durable feedback, 64 callers"]["rate"]) / around, 1
    )
    ratios["answers in a commit, 64 callers"] = round(group, 1)
    print(json.dumps(ratios, indent=1))
    print("| | requests/s | p50 | p99 | server's CPU, us/request | refused |")
    print("|---|---|---|---|---|---|")
    for name, seen in rows:
        values = [seen[key] for key in ("rate", "50%", "99%", "cpu", "bad")]
        print(f"| {name} | {' | '.join(values)} |")
    print("\n".join(outcomes))


if __name__ == "__main__":
    main()
