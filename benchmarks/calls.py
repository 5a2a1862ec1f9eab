"""Calls from Python and the start of the command line, as ratios of one run.

Run ``python -m benchmarks.calls`` in the root of a clone, on a quiet machine; ``--quick`` is a
first look.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

import clubcascade as cc
from benchmarks.engine.clock import SEED, K, median_of, product_seconds, seconds_of
from benchmarks.engine.worlds import paper_world

D, ITEMS = 20, 1000


def process_seconds(*arguments: str, runs: int) -> float:
    """Processor seconds of a new Python, which a busy machine does not stretch as much."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, *arguments]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return median_of(runs, once)


def start(runs: int) -> Iterator[tuple[str, str]]:
    python = process_seconds("-c", "pass", runs=runs)
    yield "`python -c pass`", f"{python:.3f} s of a processor"
    for what in ("import clubcascade", "import clubcascade.policies", "import typer"):
        seconds = process_seconds("-c", what, runs=runs)
        yield f"`{what}`", f"{seconds:.2f} s, {seconds / python:.0f} times Python"
    for command in ("--help", "list"):
        seconds = process_seconds("-m", "clubcascade", command, runs=runs)
        yield f"`clubcascade {command}`", f"{seconds:.2f} s, {seconds / python:.0f} times Python"


def log(n: int) -> tuple[cc.Catalog, list[int], np.ndarray, list[int | None]]:
    rng = np.random.default_rng(SEED)
    items = rng.standard_normal((ITEMS, D))
    catalog = cc.Catalog(items / np.linalg.norm(items, axis=1, keepdims=True))
    rows = rng.integers(ITEMS, size=(n, K))
    clicks = [None if c == K else c for c in rng.integers(K + 1, size=n).tolist()]
    return catalog, rng.integers(200, size=n).tolist(), rows, clicks


def event_seconds(runs: int, n: int, learn: Callable[[cc.ClubCascade], object]) -> float:
    """Seconds per event; each run with a policy that has met its users before."""
    catalog, users, rows, clicks = log(n)

    def once() -> float:
        policy = cc.ClubCascade(n_features=D, users=range(200))
        policy.update_many(users[:2000], catalog[rows[:2000]], clicks[:2000])
        return seconds_of(lambda: learn(policy))

    return median_of(runs, once) / n


def updates(runs: int, n: int) -> Iterator[tuple[str, str]]:
    catalog, users, rows, clicks = log(n)
    slates = [catalog[row] for row in rows]
    loose = [np.array(slate) for slate in slates]

    def each(shown: list[object]) -> Callable[[cc.ClubCascade], object]:
        return lambda policy: [
            policy.update(*event) for event in zip(users, shown, clicks, strict=True)
        ]

    known = event_seconds(runs, n, each(slates))
    yield "`update` with a catalogue", f"{1e6 * known:.2f} us"
    seconds = event_seconds(runs, n, each(loose))
    yield "`update` with a loose matrix", f"{1e6 * seconds:.2f} us, {seconds / known:.2f} times"
    whole = [0 if click is None else click for click in clicks]
    listed = event_seconds(runs, n, lambda p: p.update_many(users, catalog[rows], whole))
    yield "`update_many` with lists", f"{1e6 * listed:.2f} us an event"
    arrays = np.array(users), np.array(whole)
    seconds = event_seconds(runs, n, lambda p: p.update_many(arrays[0], catalog[rows], arrays[1]))
    yield "`update_many` with arrays", f"{1e6 * seconds:.2f} us, {seconds / listed:.2f} times"


def waiting(n: int) -> Iterator[tuple[str, str]]:
    catalog, users, rows, clicks = log(n)
    for kind in (cc.ClubCascade, cc.CohortCascade):
        policy = kind(n_features=D, users=range(200))
        policy.update_many(users[:500], catalog[rows[:500]], clicks[:500])
        policy.recommend(0, catalog, K)
        learning = threading.Thread(
            target=policy.update_many, args=(users, catalog[rows], clicks), daemon=True
        )
        waits = []
        learning.start()
        while learning.is_alive():
            waits.append(seconds_of(lambda policy=policy: policy.recommend(0, catalog, K)))
            time.sleep(0.0005)
        worst, late = 1e3 * max(waits), 1e3 * float(np.quantile(waits, 0.99))
        what = f"`recommend` of {kind.__name__} during `update_many` of {n:,} events"
        yield what, f"longest wait {worst:.1f} ms, 99% {late:.1f} ms, {len(waits)} lists"


def many(runs: int, rounds: int, visits: int) -> Iterator[tuple[str, str]]:
    """Rounds of 10,000 users in the loop of the kernels, after ``visits`` of each."""
    n_users = 10_000
    env = paper_world(n_users, ITEMS, D)
    unit = product_seconds(env.catalog.features)
    yield f"`X @ theta`, {ITEMS} items, {D} features", f"{1e6 * unit:.2f} us"
    for policy, what in (
        (cc.MultipleLinUCB(n_features=D), "MultipleLinUCB, 10,000 models alive"),
        (cc.ClubCascade(n_features=D, users=range(n_users)), "ClubCascade, u=10,000, complete"),
    ):
        cc.simulate(policy, env, rounds=visits * n_users, k=K, seed=SEED)
        seed = iter(range(SEED + 1, SEED + 1000))

        def once(policy: cc.Policy = policy, seed: Iterator[int] = seed) -> float:
            return seconds_of(lambda: cc.simulate(policy, env, rounds=rounds, k=K, seed=next(seed)))

        yield what, f"{median_of(runs, once) / rounds / unit:.1f} `X @ theta` a round"


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    runs = 3 if quick else 9
    print("| what | measured |\n|---|---|")
    for rows in (
        start(runs),
        updates(runs, 5_000 if quick else 20_000),
        waiting(50_000 if quick else 300_000),
        many(3 if quick else 5, 5_000 if quick else 30_000, 3 if quick else 20),
    ):
        for what, measured in rows:
            print(f"| {what} | {measured} |", flush=True)


if __name__ == "__main__":
    main()
