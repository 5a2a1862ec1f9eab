"""The paper's synthetic world: clusters of users, each with one weight vector."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.core import Floats
from clubcascade.environments.arrivals import Arrivals
from clubcascade.environments.table import Table
from clubcascade.errors import InvalidArgument
from clubcascade.links import Link, read_link

FRESH_TABLE = 16_384
"""Items from which fresh ones are taken each round, at the least; a power of 2."""


class Synthetic(Table):
    """Users in clusters; an item attracts with probability ``weights.x``, truly in [0, 1].

    Weights have norm 1 and all pairs of clusters are ``gap`` apart. Items have norm 1, uniform on
    the part of the sphere where no cluster's probability is negative. With a ``link`` the
    probability is ``mu(weights.x)``, cut to [0, 1] where an own link leaves it; the weights have
    norm ``scale``, and items are uniform on the whole sphere.

    Parameters
    ----------
    n_users, n_clusters, n_items, n_features
        Sizes; users are assigned to clusters at random, every cluster gets at least one.
    gap
        Distance between the weights of two clusters: ``"orthogonal"`` (sqrt 2), or a number from
        0 to 2 (0.2 is a cosine of 0.98).
    items
        ``"fixed"``: one set, drawn once. ``"fresh"``: every round ``n_items`` distinct items from
        a large table of independent draws.
    arrivals
        ``"uniform"``; ``"zipf"`` or ``{"zipf": exponent}``: user i comes in proportion to
        ``(i + 1) ** -exponent`` (1 by default); or weights, one per user.
    click
        The click model; by default the cascade.
    cluster_sizes
        Relative sizes of the clusters; by default all alike.
    link
        ``"identity"`` (the linear world), ``"logistic"``, ``"probit"``, or a
        :class:`clubcascade.Link`.
    scale
        Norm of the weights of a world with a link; ``gap`` is that of norm 1.
    seed
        Seed of weights, items and clusters. Arrivals and clicks have the seed of the run.

    Examples
    --------
    >>> env = Synthetic(n_users=6, n_clusters=2, n_items=20, n_features=5, gap=0.2, seed=7)
    >>> float(np.round(np.linalg.norm(env.weights[0] - env.weights[1]), 12))
    0.2
    >>> bool(env.attraction.min() >= 0 and env.attraction.max() <= 1)
    True
    """

    def __init__(
        self,
        *,
        n_users: int,
        n_clusters: int,
        n_items: int,
        n_features: int,
        gap: float | Literal["orthogonal"] = "orthogonal",
        items: Literal["fixed", "fresh"] = "fixed",
        arrivals: Arrivals = "uniform",
        click: ClickModel | None = None,
        cluster_sizes: npt.ArrayLike | None = None,
        link: str | Link = "identity",
        scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        n_users = validation.whole("n_users", n_users, low=1)
        n_items = validation.whole("n_items", n_items, low=1)
        d = validation.whole("n_features", n_features, low=1)
        m = validation.whole("n_clusters", n_clusters, low=1, high=n_users)
        validation.choice("items", items, ("fixed", "fresh"))
        distance = _distance(gap, m)
        structure = np.random.SeedSequence(validation.whole("seed", seed, low=0)).spawn(3)
        self.gap, self.items, self.seed = gap, items, seed
        self.link, self.scale = link, validation.number("scale", scale, low=0, open_low=True)
        linear = link == "identity"
        if linear and self.scale != 1:
            raise InvalidArgument(f"scale must be 1 in a world without a link, got {scale!r}")
        weights = _weights(m, d, distance, np.random.default_rng(structure[0]))
        self.weights = weights if linear else self.scale * weights
        size = n_items
        if items == "fresh":
            size = max(FRESH_TABLE, 1 << (4 * n_items - 1).bit_length())
        wanted = weights if linear else weights[:0]  # with a link no probability is negative
        features = _items(size, wanted, np.random.default_rng(structure[1]))
        z = self.weights @ features.T
        clusters = _clusters(n_users, m, cluster_sizes, np.random.default_rng(structure[2]))
        super().__init__(
            features,
            np.clip(z if linear else read_link(link).mu(z), 0.0, 1.0),
            clusters,
            offered=n_items if items == "fresh" else None,
            arrivals=arrivals,
            click=click,
            partition=clusters,
        )


def _distance(gap: float | Literal["orthogonal"], n_clusters: int) -> float:
    if gap == "orthogonal":
        return math.sqrt(2.0)
    if isinstance(gap, str):
        raise InvalidArgument(f'gap must be "orthogonal" or a number in [0, 2], got {gap!r}')
    widest = 2.0 if n_clusters == 1 else math.sqrt(2.0 * n_clusters / (n_clusters - 1))
    return validation.number("gap", gap, low=0, high=round(min(widest, 2.0), 12))


def _weights(m: int, d: int, distance: float, rng: np.random.Generator) -> Floats:
    """Draw ``m`` unit vectors, all pairs ``distance`` apart, in a random direction."""
    cosine = 1.0 - distance**2 / 2.0
    needed = 1 if distance == 0.0 else m
    if needed > d:
        raise InvalidArgument(
            f"n_clusters must be at most n_features, {d}, to keep all clusters at the same "
            f"distance, got {m}"
        )
    gram = np.full((m, m), cosine)
    np.fill_diagonal(gram, 1.0)
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    order = np.argsort(values)[::-1][: min(m, d)]
    basis, _ = np.linalg.qr(rng.standard_normal((d, len(order))))
    weights: Floats = root[:, order] @ basis.T
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return weights


def _items(n: int, weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw unit vectors until ``n`` of them have no negative probability for any cluster.

    A draw is first mirrored to the first cluster's side, which keeps its law within the allowed
    part and makes near clusters accept almost everything; orthogonal clusters mirror one after
    the other and accept all.
    """
    m, d = weights.shape
    cosines = weights @ weights.T
    mirrors = weights if abs(cosines - np.eye(m)).max(initial=0.0) < 1e-9 else weights[:1]
    kept: list[Floats] = []
    found = tried = 0
    while found < n:
        draws = rng.standard_normal((max(2 * n, 1024), d))
        for mirror in mirrors:
            draws -= 2.0 * np.minimum(draws @ mirror, 0.0)[:, None] * mirror
        norms = np.linalg.norm(draws, axis=1, keepdims=True)
        draws /= np.where(norms > 0, norms, 1.0)
        good = draws[(draws @ weights.T >= 0.0).all(axis=1)]
        kept.append(good)
        found += len(good)
        tried += len(draws)
        if tried > 10_000_000 and found < n:
            raise InvalidArgument(
                f"gap leaves no room for items that no cluster finds negative: "
                f"{found} of {tried} draws were usable; use a smaller gap or fewer clusters"
            )
    return np.ascontiguousarray(np.concatenate(kept)[:n])


def _clusters(
    n_users: int, m: int, sizes: npt.ArrayLike | None, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Assign users to clusters at random, at least one each."""
    weights = np.ones(m) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if weights.shape != (m,) or not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        raise InvalidArgument(
            f"cluster_sizes must be {m} numbers above 0, one per cluster, got {sizes!r}"
        )
    rest = rng.choice(m, size=n_users - m, p=weights / weights.sum())
    return rng.permutation(np.concatenate([np.arange(m), rest])).astype(np.int64)
