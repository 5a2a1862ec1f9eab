"""Bulk learning against its floor: a bare pass that only forms users' Gram matrices.

``python benchmarks/bulk.py`` writes a made-up log as Parquet into a temporary folder, learns it
with ``learn_log``, and prints time and processor time an event, and their ratios to the floor: the
best of three passes over memory that is there already. Two minutes; keep the machine quiet.

``python benchmarks/bulk.py --events 100000000 --workers 2`` takes half an hour and 1 GB of disk,
and shows that memory does not grow with the log. ``--names`` has strings for users.
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
import pyarrow.compute as pc
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


def write(
    folder: Path, events: int, users: int, rng: np.random.Generator, names: bool = False
) -> None:
    for part, first in enumerate(range(0, events, 1_000_000)):
        n = min(1_000_000, events - first)
        rows = rng.integers(L, size=(n, K)).astype(np.int32)
        lists = pa.ListArray.from_arrays(np.arange(0, n * K + 1, K, dtype=np.int32), rows.ravel())
        user = pa.array(rng.integers(users, size=n))
        user = pc.binary_join_element_wise("user-", user.cast(pa.string()), "") if names else user
        table = {"user": user, "shown": lists, "click": np.full(n, 2)}
        parquet.write_table(pa.table(table), folder / f"part-{part:04d}.parquet")


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def floor_of(users: int, features: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Return the least time and processor time of a bare pass, in microseconds an event."""
    n, d = 1_000_000, features.shape[1]
    user, rows = rng.integers(users, size=n), rng.integers(L, size=(n, K))
    gram = np.zeros((users, d, d))
    bare_pass(user, rows, features, gram)
    passes = []
    for _ in range(3):
        start = clocks()
        bare_pass(user, rows, features, gram)
        passes.append([end - began for end, began in zip(clocks(), start, strict=True)])
    return [each / n * 1e6 for each in map(min, zip(*passes, strict=True))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--names", action="store_true", help="strings for users, not numbers")
    options = parser.parse_args()
    rng, d = np.random.default_rng(0), options.features
    features = rng.normal(size=(L, d))
    features /= np.linalg.norm(features, axis=1).max()
    catalog = cc.Catalog(features)
    floor = floor_of(options.users, features, rng)
    print("| | us an event | to the floor | processor | to the floor | peak |")
    print("|---|---|---|---|---|---|")
    print(f"| bare Gram pass | {floor[0]:.2f} | 1.0 | {floor[1]:.2f} | 1.0 | |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), 20_000, 100, rng, options.names)
        for kind in (cc.MultipleLinUCB, cc.CohortCascade):  # compile
            cc.learn_log(kind(n_features=d), name, catalog)
        write(Path(name), options.events, options.users, rng, options.names)
        for kind in (cc.MultipleLinUCB, cc.CohortCascade):
            for workers in options.workers:
                start = clocks()
                cc.learn_log(kind(n_features=d), name, catalog, workers=workers)
                took = [
                    (end - began) / options.events * 1e6
                    for end, began in zip(clocks(), start, strict=True)
                ]
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
                cells = [f"{t:.2f} | {t / f:.1f}" for t, f in zip(took, floor, strict=True)]
                what = f"{kind.__name__}, {workers} thread" + "s" * (workers > 1)
                print(f"| {what} | {' | '.join(cells)} | {peak:.1f} GiB |", flush=True)


if __name__ == "__main__":
    main()
