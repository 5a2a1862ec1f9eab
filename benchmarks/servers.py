"""Several servers on one PostgreSQL: kills, throughput, lag, and a reverse proxy in front.

    python -m benchmarks.servers kill --rounds 200 --servers 3 --callers 32
    python -m benchmarks.servers load --servers 1 2 4
    python -m benchmarks.servers follow
    python -m benchmarks.servers write --writers 1 2 4 --groups 16 64 256
    python -m benchmarks.servers proxy

``kill``: callers send lists and clicks to any server, some of them twice and elsewhere, while
random servers, and PostgreSQL itself, are killed without warning. Then all that was acknowledged
must be there, once, and all servers must tell one digest, that of the log. ``load``: the CPU that a
request takes with so many servers, and how far the servers are behind one another. ``follow``: how
fast a server takes in what others have learned. ``write``: events a second that go through one
PostgreSQL, each with its decision. ``proxy``: how long a killed server behind HAProxy is noticed by
clients, and when it serves again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from clubcascade.service import Recommender
from clubcascade.service.events import Answered, read_event
from clubcascade.service.history import replayed
from clubcascade.storage import Entry, Group, Row, checksum, open_store
from clubcascade.storage.base import OWN
from tests.storage.cluster import Cluster

D, K, USERS = 20, 4, 200
RNG = np.random.default_rng(3)
ITEMS = RNG.standard_normal((50, D))
ITEMS *= 0.99 / np.linalg.norm(ITEMS, axis=1, keepdims=True)


def free_port() -> int:
    """Return a port that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """One ``clubcascade serve`` process."""

    def __init__(self, store: str, home: Path, *more: str) -> None:
        self.store, self.home, self.port, self.more = store, home, free_port(), more
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / f"{self.port}.log"
        self.start()

    def start(self) -> None:
        """Start the process."""
        options = ["--store", self.store, "--dir", str(self.home), "--no-auth", "--rate", "0"]
        command = [sys.executable, "-m", "clubcascade", "serve", *options, *self.more]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdout=log, stderr=log
            )

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until it is ready."""
        until, said = time.monotonic() + seconds, ""
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise SystemExit(f"a server has ended: {self.log.read_text()}")
            try:
                answer = httpx.get(f"{self.url}/readyz", timeout=10)
                said = answer.text
                if answer.status_code == 200:
                    return
            except httpx.TransportError as error:
                said = repr(error)
            time.sleep(0.02)
        log = self.log.read_text()[-2_000:]
        raise SystemExit(f"a server did not become ready: {said}\n{log}")

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait()

    def cpu(self) -> float:
        """Return the seconds of CPU that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Callers:
    """Threads that ask for lists and send clicks to whoever answers."""

    def __init__(self, urls: list[str], count: int, seed: int, pause: float = 0.0) -> None:
        self.urls, self.stop, self._pause = urls, threading.Event(), pause
        self.answers: dict[str, int | None] = {}
        self.outcomes: Counter[str] = Counter()
        self.errors: list[str] = []
        self.delays: list[float] = []
        self.done: Counter[str] = Counter()
        self.silent = False  # lists only
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._call, args=(seed * 1_000 + n,), daemon=True)
            for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Let them finish."""
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, client: httpx.Client, luck: random.Random, what: str, body: Any) -> Any:
        """Send a request to one after another until it is answered."""
        begun = time.monotonic()
        while True:
            url = f"{luck.choice(self.urls)}/v1/default/{what}"
            with suppress(httpx.TransportError):
                answer = client.post(url, json=body)
                if answer.status_code == 200:
                    self.delays.append(time.monotonic() - begun)
                    with self._lock:
                        self.done[what] += 1
                    return answer.json()
                if answer.status_code not in (503, 502, 504):
                    self.errors.append(answer.text)
                    return None
            if self.stop.is_set():
                return None
            time.sleep(0.02)

    def _call(self, seed: int) -> None:
        luck = random.Random(seed)
        with httpx.Client(timeout=30) as client:
            while not self.stop.wait(luck.expovariate(1 / self._pause) if self._pause else 0):
                body = {"user": f"user {luck.randrange(USERS)}", "k": K, "items": ITEMS.tolist()}
                shown = self._ask(client, luck, "recommend", body)
                if shown is None or self.silent:
                    continue
                click = luck.choice([None, 0, 1, 2, 3])
                sent = {"decision_id": shown["decision_id"], "click": click}
                for _ in range(1 + (luck.random() < 0.3)):
                    told = self._ask(client, luck, "feedback", sent)
                    if told is not None:
                        self._note(sent["decision_id"], click, told["outcome"])

    def _note(self, decision: str, click: int | None, outcome: str) -> None:
        with self._lock:
            self.outcomes[outcome] += 1
            if outcome in ("applied", "duplicate"):
                self.answers[decision] = click


def agree(servers: list[Server]) -> tuple[int, str]:
    """Wait until all servers tell one position, and return it with the one digest."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        told = [httpx.get(f"{s.url}/v1/models/default/digest", timeout=60).json() for s in servers]
        if len({one["position"] for one in told}) == 1:
            assert len({one["digest"] for one in told}) == 1, told
            return told[0]["position"], told[0]["digest"]
        time.sleep(0.3)
    raise AssertionError(f"the servers do not come together: {told}")


def check(
    url: str,
    answers: dict[str, int | None],
    told: tuple[int, str],
    archive: Path | None = None,
) -> dict[str, int]:
    """Raise unless the log has all that was acknowledged, once, and gives that digest."""
    store = open_store(url, archive=archive)
    try:
        seen: dict[str, tuple[int, ...]] = {}
        for _, payload in store.events(0):
            event = read_event(payload)
            if isinstance(event, Answered):
                assert event.decision.id not in seen, "an answer was learned twice"
                seen[event.decision.id] = event.given[1]
        for decision, click in answers.items():
            wanted = () if click is None else (click,)
            assert seen.get(decision) == wanted, f"{decision} was acknowledged and is not there"
        position, digest = replayed(store, told[0]).digest("default")
        assert (position, digest) == told, "the digest is not that of the log"
    finally:
        store.close()
    return {"events": told[0], "acknowledged": len(answers)}


def kill(options: argparse.Namespace) -> None:
    """Kill servers, and PostgreSQL, many times."""
    luck, home = random.Random(options.seed), Path(tempfile.mkdtemp())
    cluster = Cluster()
    url = cluster.database()
    Recommender(url, n_features=D, snapshot_every=2_000).close()
    servers = [Server(url, home) for _ in range(options.servers)]
    callers = None
    try:
        for server in servers:
            server.wait()
        callers = Callers([s.url for s in servers], options.callers, options.seed, options.pause)
        killed: Counter[str] = Counter()
        for number in range(options.rounds):
            time.sleep(luck.choice([0.1, 0.3, 0.6, 1.0]))
            if luck.random() < options.database:
                cluster.kill()
                time.sleep(luck.random())
                cluster.start()
                killed["PostgreSQL"] += 1
            else:
                victim = luck.choice(servers)
                victim.kill()
                victim.start()
                killed["server"] += 1
            if (number + 1) % 5 == 0:
                for server in servers:
                    server.wait()
            if (number + 1) % 20 == 0:
                print(f"{number + 1} kills: {len(callers.answers)} acknowledged", flush=True)
        for server in servers:
            server.wait()
        callers.join()
        found = check(url, callers.answers, agree(servers))
        assert not callers.errors, callers.errors[:3]
        print(json.dumps({**killed, **found, **callers.outcomes}))
    finally:
        if callers is not None:
            callers.stop.set()
        for server in servers:
            server.kill()
        cluster.remove()
        shutil.rmtree(home)


def load(options: argparse.Namespace) -> None:
    """Measure CPU a list and a click with several servers, and how far they are behind."""
    print("| servers | requests/s | CPU a list, a click, us | lag p50, p99, events | ms |")
    print("|---|---|---|---|---|")
    for count in options.servers:
        cluster, home = Cluster(), Path(tempfile.mkdtemp())
        url = cluster.database()
        Recommender(url, n_features=D).close()
        servers = [Server(url, home) for _ in range(count)]
        try:
            for server in servers:
                server.wait()
            callers = Callers([s.url for s in servers], options.callers, 1)
            time.sleep(3)
            callers.silent = True
            time.sleep(0.5)
            used, done = spent(servers, callers, lambda: time.sleep(options.seconds / 3))
            each = used / max(done["recommend"], 1)
            callers.silent, looks = False, []
            begun = time.monotonic()
            used, done = spent(servers, callers, partial(watch, servers, options.seconds, looks))
            rate = sum(done.values()) / (time.monotonic() - begun)
            click = (used - each * done["recommend"]) / max(done["feedback"], 1)
            callers.join()
            lags = [max(at for at, _ in look) - min(at for at, _ in look) for look in looks]
            middle, last = np.percentile(lags, [50, 99])
            soon, late = np.percentile(behind(looks) or [0.0], [50, 99])
            print(
                f"| {count} | {rate:.0f} | {1e6 * each:.0f}, {1e6 * click:.0f} "
                f"| {middle:.0f}, {last:.0f} | {soon:.0f}, {late:.0f} |",
                flush=True,
            )
        finally:
            for server in servers:
                server.kill()
            cluster.remove()
            shutil.rmtree(home)


def watch(servers: list[Server], seconds: float, looks: list[list[tuple[int, float]]]) -> None:
    """Look how far servers are: at one time, over connections that stay open."""
    until = time.monotonic() + seconds
    with ExitStack() as stack, ThreadPoolExecutor(len(servers)) as pool:
        clients = [stack.enter_context(httpx.Client(base_url=s.url)) for s in servers]
        while time.monotonic() < until:
            looks.append(list(pool.map(position, clients)))
            time.sleep(0.002)


def spent(
    servers: list[Server], callers: Callers, work: Callable[[], None]
) -> tuple[float, Counter[str]]:
    """Return the CPU seconds of servers during some work, and how many requests they answered."""
    before, done = sum(s.cpu() for s in servers), Counter(callers.done)
    work()
    return sum(s.cpu() for s in servers) - before, callers.done - done


def position(client: httpx.Client) -> tuple[int, float]:
    """Return up to where a server has learned, and when it said so."""
    found = int(client.get("/readyz").json()["position"])
    return found, time.monotonic()


def behind(looks: list[list[tuple[int, float]]]) -> list[float]:
    """Return after how many milliseconds each server had learned what the first one had."""
    found = []
    for server in range(len(looks[0])):
        positions = np.array([look[server][0] for look in looks])
        for look in looks:
            first = max(range(len(look)), key=lambda one: (look[one][0], -look[one][1]))
            at, when = look[first]
            there = int(np.searchsorted(positions, at))
            if there < len(looks) and server != first:
                found.append(max(1e3 * (looks[there][server][1] - when), 0.0))
    return found


def append(url: str, size: int, seconds: float, told: Any) -> None:
    """Write groups of answers, each with its decision, as a server does; tell how many."""
    with closing(open_store(url)) as store:
        payload, event, done = os.urandom(900), os.urandom(930), 0
        base = store.server << OWN
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            numbers = range(base + done + 1, base + done + size + 1)
            rows = [Row(number, 0, None, payload) for number in numbers]
            entries = [Entry(event, n, '["applied",1,[0]]', checksum(n, payload)) for n in numbers]
            assert store.append(Group(rows, entries)) is not None
            done += size
        told.put(done)


def write(options: argparse.Namespace) -> None:
    """Measure the events that go through one PostgreSQL."""
    cluster, spawn = Cluster(), multiprocessing.get_context("spawn")
    try:
        print("| writers | events a commit | events a second |")
        print("|---|---|---|")
        for writers in options.writers:
            for size in options.groups:
                url, told = cluster.database(), spawn.Queue()
                open_store(url).close()
                args = (url, size, options.seconds, told)
                works = [spawn.Process(target=append, args=args) for _ in range(writers)]
                for work in works:
                    work.start()
                done = sum(told.get() for _ in works)
                for work in works:
                    work.join()
                print(f"| {writers} | {size} | {done / options.seconds:,.0f} |", flush=True)
    finally:
        cluster.remove()


def follow(options: argparse.Namespace) -> None:
    """Measure how fast a server takes in what another one has learned."""
    for kind in ("SQLite", "PostgreSQL"):
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster() if kind == "PostgreSQL" else None
            where = cluster.database() if cluster else folder
            with Recommender(where, n_features=D, snapshot_every=10**9) as one:
                for _ in range(options.events // 1_000):
                    ids = [one.recommend(n % USERS, K, ITEMS).id for n in range(1_000)]
                    one.feedback_many([(decision, n % K) for n, decision in enumerate(ids)])
                with closing(open_store(where)) as store:
                    begun = time.process_time(), time.monotonic()
                    models = replayed(store)
                    cpu, took = time.process_time() - begun[0], time.monotonic() - begun[1]
                assert models.digest() == one.digest_at()
                rate, by_cpu = options.events / took, options.events / cpu
            print(f"{kind}: {rate:,.0f} events a second, {by_cpu:,.0f} a second of CPU")
            if cluster:
                cluster.remove()


PROXY = """
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  retries 3
  option redispatch
  retry-on conn-failure empty-response 503
frontend all
  bind 127.0.0.1:{port}
  default_backend servers
backend servers
  option httpchk GET /readyz
  default-server check inter 200ms fall 2 rise 1
{servers}
"""


def proxy(options: argparse.Namespace) -> None:
    """Kill a server behind HAProxy; print how long clients waited, and when it serves again."""
    cluster, home = Cluster(), Path(tempfile.mkdtemp())
    url = cluster.database()
    Recommender(url, n_features=D).close()
    servers, front = [Server(url, home) for _ in range(3)], free_port()
    lines = "\n".join(f"  server s{n} 127.0.0.1:{s.port}" for n, s in enumerate(servers))
    (home / "haproxy.cfg").write_text(PROXY.format(port=front, servers=lines))
    haproxy = None
    try:
        for server in servers:
            server.wait()
        haproxy = subprocess.Popen(["haproxy", "-f", str(home / "haproxy.cfg")])
        time.sleep(1)
        callers = Callers([f"http://127.0.0.1:{front}"], options.callers, 2)
        time.sleep(5)
        calm = max(callers.delays)
        callers.delays.clear()
        begun = time.monotonic()
        servers[0].kill()
        servers[0].start()  # as whoever watches it does
        servers[0].wait()
        full = time.monotonic() - begun
        time.sleep(3)
        print(f"longest wait: {calm:.2f} s before, {max(callers.delays):.2f} s around a kill")
        print(f"the killed server serves again after {full:.1f} s")
        callers.join()
        assert not callers.errors, callers.errors[:3]
        check(url, callers.answers, agree(servers))
    finally:
        if haproxy is not None:
            haproxy.terminate()
            haproxy.wait()
        for server in servers:
            with suppress(ProcessLookupError):
                os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        cluster.remove()
        shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("kill")
    one.add_argument("--rounds", type=int, default=200)
    one.add_argument("--servers", type=int, default=3)
    one.add_argument("--callers", type=int, default=32)
    one.add_argument("--database", type=float, default=0.15, help="share of kills of PostgreSQL")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--pause", type=float, default=0.0, help="seconds between calls, on average")
    two = commands.add_parser("load")
    two.add_argument("--servers", type=int, nargs="*", default=[1, 2, 4])
    two.add_argument("--callers", type=int, default=64)
    two.add_argument("--seconds", type=float, default=15)
    three = commands.add_parser("follow")
    three.add_argument("--events", type=int, default=50_000)
    five = commands.add_parser("write")
    five.add_argument("--writers", type=int, nargs="*", default=[1, 2, 4])
    five.add_argument("--groups", type=int, nargs="*", default=[16, 64, 256])
    five.add_argument("--seconds", type=float, default=5)
    four = commands.add_parser("proxy")
    four.add_argument("--callers", type=int, default=8)
    options = parser.parse_args()
    {"kill": kill, "load": load, "follow": follow, "write": write, "proxy": proxy}[options.command](
        options
    )


if __name__ == "__main__":
    main()
