"""Measure ``clubcascade data`` on made-up files of the real sizes.

``python benchmarks/prepare.py`` writes a ratings.csv of MovieLens 20M's shape, and review and
business files of Yelp's, into a temporary folder, prepares them in a process of its own, and prints
time and peak memory. It needs some gigabytes of disk for the time being.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

USERS, ITEMS, LARGEST_ITEM = 138_493, 26_744, 131_262
CHUNK = 2_000_000
WORDS = 'The food was good, but \\"slow\\" service.\\n'


def ratings(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    items = np.sort(rng.choice(LARGEST_ITEM, ITEMS, replace=False)) + 1
    users = np.sort((USERS * rng.random(rows) ** 1.7).astype(np.int64)) + 1
    plain = csv.WriteOptions(include_header=False)
    with path.open("wb") as stream:
        stream.write(b"userId,movieId,rating,timestamp\n")
        for start in range(0, rows, CHUNK):
            chosen = users[start : start + CHUNK]
            n = len(chosen)
            columns = {
                "userId": chosen,
                "movieId": items[(ITEMS * rng.random(n) ** 2.5).astype(np.int64)],
                "rating": rng.integers(1, 11, n) / 2,
                "timestamp": rng.integers(789_652_009, 1_427_784_002, n),
            }
            csv.write_csv(pa.table(columns), stream, plain)


def yelp(folder: Path, rows: int, length: int) -> None:
    rng = np.random.default_rng(0)
    letters = np.frombuffer(
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", np.uint8
    )

    def names(count: int) -> list[str]:
        return [bytes(row).decode() for row in letters[rng.integers(0, 64, (count, 22))]]

    users, businesses = names(max(rows // 4, 10)), names(max(rows // 50, 10))
    kinds = [None, "Restaurants, Pizza", "Shopping, Food", "Bars, Restaurants"]
    with (folder / "yelp_academic_dataset_business.json").open("w") as stream:
        for n, name in enumerate(businesses):
            record = {"business_id": name, "name": f"Nr {n}", "city": "Tucson", "stars": 3.5}
            stream.write(json.dumps(record | {"categories": kinds[n % 4]}) + "\n")
    text = (WORDS * (length // 40 + 1))[: length // 40 * 40] if length >= 40 else "Good food."
    line = (
        '{"review_id":"%s","user_id":"%s","business_id":"%s","stars":4.0,"useful":0,"funny":0,'
        f'"cool":0,"text":"{text}","date":"2018-07-07 22:09:11"}}\n'
    )
    with (folder / "yelp_academic_dataset_review.json").open("w", buffering=1 << 22) as stream:
        for start in range(0, rows, CHUNK // 20):
            n = min(CHUNK // 20, rows - start)
            who = (len(users) * rng.random(n) ** 2).astype(int)
            what = (len(businesses) * rng.random(n) ** 2.5).astype(int)
            stream.writelines(
                line % (users[(start + i) % len(users)], users[u], businesses[b])
                for i, (u, b) in enumerate(zip(who, what, strict=True))
            )


def measure(*arguments: str) -> None:
    """Run the command, and print what it took."""
    command = [sys.executable, "-m", "clubcascade", "data", *arguments]
    start = time.perf_counter()
    child = os.spawnv(os.P_NOWAIT, sys.executable, command)
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    busy = used.ru_utime + used.ru_stime
    memory = used.ru_maxrss / 2**20
    print(f"-> {seconds:.1f} s ({busy:.1f} s of processor), peak memory {memory:.2f} GiB\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, default=20_000_000, help="rows; 0 to leave out")
    parser.add_argument("--reviews", type=int, default=8_000_000, help="rows; 0 to leave out")
    parser.add_argument("--text", type=int, default=20, help="letters of a review")
    parser.add_argument("--folder", type=Path, help="where to write; by default a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        data = ["--folder", str(folder / "data")]
        if options.ratings:
            ratings(folder / "ratings.csv", options.ratings)
            size = (folder / "ratings.csv").stat().st_size / 1e6
            print(f"{options.ratings:,} ratings, {size:,.0f} MB of text", flush=True)
            for _ in range(2):  # the second time nothing is left to do
                measure("movielens", "20m", "--path", str(folder / "ratings.csv"), *data)
            (folder / "ratings.csv").unlink()
        if options.reviews:
            (folder / "yelp").mkdir()
            yelp(folder / "yelp", options.reviews, options.text)
            size = sum(file.stat().st_size for file in (folder / "yelp").iterdir()) / 1e6
            print(f"{options.reviews:,} reviews, {size:,.0f} MB of text", flush=True)
            measure("yelp", "--path", str(folder / "yelp"), *data)


if __name__ == "__main__":
    main()
