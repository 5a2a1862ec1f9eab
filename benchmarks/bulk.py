"""Bulk learning against its floor: a bare pass that only forms users' Gram matrices.

``python benchmarks/bulk.py --events 1000000`` writes a made-up log as Parquet into a temporary
folder, learns it with ``learn_log``, and prints microseconds an event and the ratio to the floor.
Keep the machine quiet.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
from pyarrow import parquet

import clubcascade as cc

K, L, EXAMINED = 4, 1000, 3


@numba.njit(nogil=True)
def bare_pass(user, rows, features, gram):
    for i in range(len(user)):
        s = gram[user[i]]
        for place in range(EXAMINED):
            x = features[rows[i, place]]
            for j in range(len(x)):
                for k in range(len(x)):
                    s[j, k] += x[j] * x[k]


def write(folder: Path, events: int, users: int, rng: np.random.Generator) -> None:
    for part, first in enumerate(range(0, events, 1_000_000)):
        n = min(1_000_000, events - first)
        rows = rng.integers(L, size=(n, K)).astype(np.int32)
        lists = pa.ListArray.from_arrays(np.arange(0, n * K + 1, K, dtype=np.int32), rows.ravel())
        table = {"user": rng.integers(users, size=n), "shown": lists, "click": np.full(n, 2)}
        parquet.write_table(pa.table(table), folder / f"part-{part:04d}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    options = parser.parse_args()
    rng, d = np.random.default_rng(0), options.features
    features = rng.normal(size=(L, d))
    features /= np.linalg.norm(features, axis=1).max()
    catalog = cc.Catalog(features)
    n = min(options.events, 1_000_000)
    user, rows = rng.integers(options.users, size=n), rng.integers(L, size=(n, K))
    gram = np.zeros((options.users, d, d))
    bare_pass(user[:9], rows[:9], features, gram)
    start = time.perf_counter()
    bare_pass(user, rows, features, gram)
    floor = (time.perf_counter() - start) / n * 1e6
    del gram
    print(f"| bare Gram pass | {floor:.2f} us | 1.0 |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), 20_000, 100, rng)
        for kind in (cc.MultipleLinUCB, cc.CohortCascade):  # compile
            cc.learn_log(kind(n_features=d), name, catalog)
        write(Path(name), options.events, options.users, rng)
        for kind in (cc.MultipleLinUCB, cc.CohortCascade):
            for workers in (1, 2):
                start = time.perf_counter()
                cc.learn_log(kind(n_features=d), name, catalog, workers=workers)
                took = (time.perf_counter() - start) / options.events * 1e6
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
                print(
                    f"| {kind.__name__}, {workers} threads | {took:.2f} us | {took / floor:.1f} | "
                    f"peak {peak:.1f} GiB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
