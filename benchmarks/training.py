"""Measure ``clubcascade.train``: what lists are worth on real clicks, cold items, time and memory.

``python -m benchmarks.training FOLDER`` looks in a folder for ``movielens-1m/interactions.parquet``
(user, item, rating, timestamp) with ``movies.parquet`` (item, title, genres),
``yelp-core40/interactions.parquet`` (user, item, rating) with ``item_categories.parquet`` (item,
category), and ``jester5k/ratings.npz`` (ratings, jokes), and measures those that it finds. ALS gets
24 settings, tuned on the clicks that ours are chosen by.

``python -m benchmarks.training --made 20000000`` makes up that many clicks, of the shape of
MovieLens 20M, trains on them in a process of its own, and prints time and peak memory.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import clubcascade as cc
from benchmarks.prepare import ratings

ALS = {
    "factors": (16, 32, 64),
    "regularization": (0.01, 1.0, 10.0, 50.0),
    "alpha": (1.0, 5.0),
}
FOLDS = 5


def found(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the data sets that are there: a name, and the arguments of ``train``."""
    movies = folder / "movielens-1m"
    if movies.exists():
        arguments = {
            "clicks": movies / "interactions.parquet",
            "items": movies / "movies.parquet",
            "at_least": 4,
        }
        yield "MovieLens 1M, last fifth of each user", arguments | {"split": "user"}
        yield "MovieLens 1M, last fifth of the log", arguments
    yelp = folder / "yelp-core40"
    if yelp.exists():
        rows = pl.read_parquet(yelp / "item_categories.parquet")
        items = rows.group_by("item", maintain_order=True).agg(
            pl.col("category").alias("categories")
        )
        yield (
            "Yelp sample, a fifth of each user",
            {"clicks": yelp / "interactions.parquet", "items": items, "at_least": 4},
        )
    jester = folder / "jester5k" / "ratings.npz"
    if jester.exists():
        clicks, items = jester_tables(jester)
        yield "Jester, a fifth of each user", {"clicks": clicks, "items": items}


def jester_tables(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return clicks (ratings of at least 5) and texts."""
    with np.load(path) as data:
        liked, jokes = data["ratings"] >= 5, data["jokes"]
    users, items = np.nonzero(liked)
    texts = pl.DataFrame({"item": np.arange(len(jokes)), "text": [str(joke) for joke in jokes]})
    return pl.DataFrame({"user": users, "item": items}), texts


def judge(name: str, arguments: dict[str, Any], als: Any) -> None:
    """Print the table; where the held-out part is drawn, also the means of three draws."""
    drawn = "a fifth" in name
    means: dict[str, list[float]] = {}
    for seed in range(3 if drawn else 1):
        start = time.monotonic()
        model = cc.train(**arguments, als=als, seed=seed)
        assert model.worth is not None
        print(f"\n## {name}, seed {seed}: {time.monotonic() - start:.0f} s")
        print(f"{model.said[-2]}; {model.said[-1]}")
        print(model.worth, flush=True)
        for row in model.worth.rows:
            means.setdefault(row.name, []).append(row.ndcg[0])
    if drawn:
        words = (f"{each} {np.mean(values):.4f}" for each, values in means.items())
        print(f"\nmean NDCG of three draws: {', '.join(words)}", flush=True)


def cold(path: Path, k: int = 5) -> None:
    """Jokes that nobody clicked, ranked by their texts: for users whose opinion of all is known."""
    clicks, texts = jester_tables(path)
    with np.load(path) as data:
        opinions = data["ratings"]
    whole = np.flatnonzero(~np.isnan(opinions).any(axis=1))
    order = np.random.default_rng(0).permutation(opinions.shape[1])
    rows = []
    for fold in range(FOLDS):
        new = np.sort(order[fold::FOLDS])
        known = clicks.filter(~pl.col("item").is_in(new.tolist()))
        model = cc.train(known, texts, judge=False)
        users = [user for user in whole.tolist() if user in model._users]
        places = [model.items.row(int(item)) for item in new]
        scores = np.array([model.scores(user)[places] for user in users])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        liked = opinions[np.ix_(users, new)] >= 5
        ours = np.take_along_axis(liked, best, axis=1).mean()
        popular = liked[:, np.argsort(-liked.mean(axis=0))[:k]].mean()
        rows.append((ours, liked.mean(), popular))
    ours, chance, oracle = np.mean(rows, axis=0)
    print(
        f"\n## Jester, cold items: precision@{k} among 20 jokes without a click, mean of {FOLDS} "
        f"folds\nby text {ours:.4f}, random {chance:.4f}, the most liked of these 20 {oracle:.4f}; "
        f"folds {[round(float(row[0] / row[1]), 2) for row in rows]} times random"
    )


def made(n_clicks: int) -> None:
    """Time and memory of a process that trains on made-up clicks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clicks.csv"
        ratings(path, n_clicks)
        print(f"{n_clicks:,} clicks, {path.stat().st_size / 1e6:,.0f} MB of CSV", flush=True)
        start = time.monotonic()
        out = Path(folder) / "shop.cc"
        command = [sys.executable, "-m", "clubcascade", "train", str(path), "--out", str(out)]
        child = os.spawnv(os.P_NOWAIT, sys.executable, command)
        _, status, usage = os.wait4(child, 0)
        print(
            f"exit {status}: {time.monotonic() - start:.0f} s, processor "
            f"{usage.ru_utime + usage.ru_stime:.0f} s, peak memory "
            f"{usage.ru_maxrss / 2**20:.2f} GiB, file {out.stat().st_size / 1e6:,.0f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="folder of data sets")
    parser.add_argument("--made", type=int, help="make up so many clicks")
    parser.add_argument("--no-als", action="store_true", help="leave ALS out")
    options = parser.parse_args()
    if options.made:
        made(options.made)
    if options.folder:
        for name, arguments in found(options.folder):
            judge(name, arguments, False if options.no_als else ALS)
        if (options.folder / "jester5k" / "ratings.npz").exists():
            cold(options.folder / "jester5k" / "ratings.npz")


if __name__ == "__main__":
    main()
