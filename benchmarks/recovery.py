"""How long a restart takes: many events, many users, a snapshot and the log behind it.

    python benchmarks/recovery.py --events 1000000 --users 10000

Fills a store, then opens it in fresh processes and prints the seconds until it is ready: from the
newest snapshot with the log behind it. The digest before and after must be the same.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from clubcascade.service import Recommender

D, K = 20, 4

OPEN = """
import sys, time
start = time.perf_counter()
from clubcascade.service import Recommender
imported = time.perf_counter()
shop = Recommender(sys.argv[1])
ready = time.perf_counter()
print(f"{imported - start:.2f} {ready - imported:.2f} {shop.position} {shop.digest()}")
shop.close()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--tail", type=int, default=20_000, help="events behind the snapshot")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    items = rng.standard_normal((1_000, D))
    items *= 0.99 / np.linalg.norm(items, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        shop = Recommender(folder, n_features=D, snapshot_every=10**9)
        shop.register_items(range(1_000), items)
        done = 0
        while done < options.events:
            if done == options.events - options.tail:
                shop.snapshot()
            users = rng.integers(options.users, size=1_000).tolist()
            clicks = rng.integers(-1, K, size=1_000).tolist()
            answers = [
                (shop.recommend(user, K).id, None if click < 0 else click)
                for user, click in zip(users, clicks, strict=True)
            ]
            shop.feedback_many(answers)
            done += 1_000
            if done % 50_000 == 0:
                seconds = time.perf_counter() - start
                print(f"{done} events, {seconds:.0f} s", file=sys.stderr, flush=True)
        digest = shop.digest()
        shop.close()
        seconds = time.perf_counter() - start
        sizes = {
            "database": (Path(folder) / "store.db").stat().st_size,
            "snapshot": max(p.stat().st_size for p in (Path(folder) / "snapshots").iterdir()),
        }
        print(f"{done} events of {options.users} users made in {seconds:.0f} s; {sizes}")
        for _ in range(3):
            found = subprocess.run(
                [sys.executable, "-c", OPEN, folder], capture_output=True, text=True, check=True
            ).stdout.split()
            same = found[3] == digest
            print(f"imports {found[0]} s, ready {found[1]} s later; the same digest: {same}")


if __name__ == "__main__":
    main()
