"""What lists are compared with: popularity, that of a category, ALS, and chance."""

from __future__ import annotations

import importlib.util
import itertools
import warnings
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from clubcascade.core import Floats, Ints
from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import InvalidArgument, MissingExtra
from clubcascade.features.encoders import values_of
from clubcascade.training.measures import Held, Scores, worth

ALS_GRID = {"factors": (16, 64), "regularization": (1.0, 50.0), "alpha": (1.0, 5.0)}
"""Settings of ALS that are tried on the clicks that ours are chosen by."""
MOST_ALS = 3_000_000
"""Clicks beyond which ALS is not run."""


def popularity(clicks: sparse.csr_array) -> Scores:
    """Score items by how many users clicked them."""
    number = np.asarray(clicks.sum(axis=0), dtype=np.float64)
    return lambda users: np.tile(number, (len(users), 1))


def chance(clicks: sparse.csr_array, seed: int) -> Scores:
    """Score items at random."""
    rng = np.random.default_rng(seed)
    return lambda users: rng.random((len(users), clicks.shape[1]))


def favourite(clicks: sparse.csr_array, column: pl.Series, tags: bool) -> Scores:
    """Score items by popularity, those of the category that a user clicked most before all others.

    ``column`` has the category of every item, or its tags.
    """
    rows, values, n = values_of(column, tags)
    having = sparse.csr_array(
        (np.ones(len(rows)), (rows, values)), shape=(clicks.shape[1], max(n, 1))
    )
    popular = popularity(clicks)
    most = float(np.asarray(clicks.sum(axis=0)).max(initial=0.0)) + 1.0

    def scores(users: Ints) -> Floats:
        liked = (clicks[users] @ having).toarray().argmax(axis=1)
        own: Floats = having[:, liked].toarray().T
        return popular(users) + most * (own > 0)

    return scores


def has_als() -> bool:
    """Tell whether the package ``implicit`` is installed."""
    return importlib.util.find_spec("implicit") is not None


def als(
    clicks: sparse.csr_array, tune: Held, k: int, grid: Any = None, progress: Progress = silent
) -> Scores:
    """Fit ALS of the package ``implicit``, with the best setting on held-out clicks."""
    grid = grid or ALS_GRID
    settings = [
        dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values())
    ]
    best, most = settings[0], -1.0
    if len(settings) > 1 and len(tune.users):
        for step, setting in enumerate(settings, start=1):
            found = worth(tune, _als(tune.before, setting), k).mean("ndcg")
            best, most = (setting, found) if found > most else (best, most)
            progress("tuning ALS", step, len(settings))
    return _als(clicks, best)


def _als(clicks: sparse.csr_array, setting: dict[str, Any]) -> Scores:
    if not has_als():
        raise MissingExtra("als needs implicit: pip install implicit")
    from implicit.als import AlternatingLeastSquares  # noqa: PLC0415  optional

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = AlternatingLeastSquares(iterations=15, random_state=0, **setting)
        except TypeError as error:
            raise InvalidArgument(f"als must name settings of ALS, got {error}") from None
        model.fit(sparse.csr_matrix(clicks, dtype=np.float32), show_progress=False)
    users, items = np.asarray(model.user_factors), np.asarray(model.item_factors)
    return lambda chosen: users[chosen] @ items.T
