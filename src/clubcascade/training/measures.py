"""Clicks that are held out, and what lists are worth on them: precision, recall, NDCG, share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade import validation
from clubcascade.core import Floats, Ints
from clubcascade.features.log import ClickLog
from clubcascade.kernels.ranking import rank_scores

Scores = Callable[[Ints], Floats]
"""From users to the scores of all items, a row per user."""
Split = Literal["log", "user"]
MEASURES = ("precision", "recall", "ndcg")
RESAMPLES = 1000
_CELLS = 4_000_000
"""Scores that are held at a time."""


def last_part(
    log: ClickLog, share: float, split: Split = "log", seed: int = 0
) -> npt.NDArray[np.bool_]:
    """Tell which clicks are held out.

    Parameters
    ----------
    log
        The clicks, in the order of their times.
    share
        The share that is held out.
    split
        ``"log"``: the last clicks of all; ``"user"``: the last clicks of each user.
    seed
        Without times, the held-out clicks of each user are drawn at random.

    Examples
    --------
    >>> from clubcascade.features import read_log
    >>> rows = [{"user": u, "item": i, "time": t} for t, (u, i) in enumerate(["ax", "ay", "bx"])]
    >>> last_part(read_log(rows), 0.4).tolist(), last_part(read_log(rows), 0.5, "user").tolist()
    ([False, False, True], [False, True, False])
    """
    share = validation.number("held_out", share, low=0.01, high=0.9)
    split = validation.choice("split", split, ("log", "user"))
    if log.time is not None and split == "log":
        first = int(np.ceil((1.0 - share) * len(log)))
        held = np.arange(len(log)) >= first
        return held
    order = np.arange(len(log))
    if log.time is None:
        order = np.random.default_rng(seed).permutation(len(log))
    by_user = order[np.argsort(log.user[order], kind="stable")]
    number = np.bincount(log.user, minlength=len(log.users))
    start = np.concatenate([[0], np.cumsum(number)[:-1]])
    users = log.user[by_user]
    place = np.arange(len(log)) - start[users]
    held = np.zeros(len(log), bool)
    held[by_user] = place >= np.ceil((1.0 - share) * number[users])
    return held


@dataclass(frozen=True)
class Held:
    """Clicks that came before, those that came after, and the users of both, in order."""

    before: sparse.csr_array
    after: sparse.csr_array
    users: Ints

    @classmethod
    def of(cls, before: sparse.csr_array, after: sparse.csr_array, most: int, seed: int) -> Held:
        """Take users who clicked before and after, at most so many, drawn at random."""
        users = np.flatnonzero((np.diff(before.indptr) > 0) & (np.diff(after.indptr) > 0))
        if len(users) > most:
            users = np.sort(np.random.default_rng(seed).choice(users, most, replace=False))
        return cls(before, after, users)

    def parts(self) -> Iterator[Ints]:
        """Yield the users, as many at a time as fit."""
        size = max(1, _CELLS // max(self.before.shape[1], 1))
        for first in range(0, len(self.users), size):
            yield self.users[first : first + size]

    def scores(self, weights: Floats, vectors: Floats) -> Scores:
        """Return the scores that follow from the weights of these users, a row each."""
        return lambda users: weights[np.searchsorted(self.users, users)] @ vectors.T


@dataclass(frozen=True)
class Worth:
    """The measures of one way to make lists: a value per user, and the items shown."""

    values: dict[str, Floats]
    shown: float

    def mean(self, measure: str) -> float:
        """Return the mean over users."""
        return float(self.values[measure].mean())


def top_k(scores: Floats, k: int) -> Ints:
    """Return the places of the ``k`` largest of each row, best first; ties to the lower place.

    >>> top_k(np.array([[1.0, 3.0, 2.0, 3.0]]), 3)
    array([[1, 3, 2]])
    """
    k = min(k, scores.shape[1])
    rows, best = np.empty((len(scores), k), np.int64), np.empty(k)
    for row, own in zip(rows, np.ascontiguousarray(scores, np.float64), strict=True):
        rank_scores(own, row, best)
    return rows


def worth(held: Held, scores: Scores, k: int) -> Worth:
    """Return what the lists of the ``k`` best items not clicked before are worth."""
    discounts = 1.0 / np.log2(np.arange(k) + 2.0)
    ideal = np.cumsum(discounts)
    found: dict[str, list[Floats]] = {name: [] for name in MEASURES}
    seen = np.zeros(held.before.shape[1], bool)
    for users in held.parts():
        rows = np.array(scores(users), dtype=np.float64)
        rows[held.before[users].nonzero()] = -np.inf
        lists = top_k(rows, k)
        seen[np.unique(lists)] = True
        after = held.after[users]
        hits = np.take_along_axis(after.toarray(), lists, axis=1) > 0
        number = np.diff(after.indptr)
        found["precision"].append(hits.sum(axis=1) / k)
        found["recall"].append(hits.sum(axis=1) / number)
        best = ideal[np.minimum(number, k) - 1]
        found["ndcg"].append((hits * discounts[: hits.shape[1]]).sum(axis=1) / best)
    values = {name: np.concatenate([np.zeros(0), *parts]) for name, parts in found.items()}
    return Worth(values, float(seen.mean()) if len(seen) else 0.0)


def interval(values: Floats, seed: int = 0) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a mean over users.

    >>> low, high = interval(np.arange(100.0))
    >>> bool(low < 49.5 < high), bool(40 < low), bool(high < 60)
    (True, True, True)
    """
    if not len(values):
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for draw in range(RESAMPLES):
        means[draw] = values[rng.integers(len(values), size=len(values))].mean()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
