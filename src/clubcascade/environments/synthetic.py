"""The paper's synthetic world: clusters of users, each with one weight vector."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.core import Floats
from clubcascade.environments import draws
from clubcascade.environments.arrivals import Arrivals
from clubcascade.environments.changes import Changes, read_changes
from clubcascade.environments.matrix import at_rates
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument
from clubcascade.links import Link, read_link

FRESH_TABLE = 16_384
"""Items from which fresh ones are taken each round, at the least; a power of 2."""
LARGEST = 2**30
"""Bytes that the probabilities of a world may take."""


class Synthetic(TabularEnvironment):
    """Users in clusters; an item attracts with probability ``weights.x``, truly in [0, 1].

    Weights have norm 1 and all pairs of clusters are ``gap`` apart. Items have norm 1, uniform on
    the part of the sphere where no probability is negative, neither of a cluster nor of a user
    with a ``personal`` part. With a ``link`` the probability is ``mu(weights.x)``, cut to [0, 1]
    where an own link leaves it; the weights have norm ``scale``, and items are uniform on the whole
    sphere.

    With ``gap="random"`` there may be more clusters than features, up to every user alone: the
    features are topics (directions of a random basis), the weights are independent, with squared
    normal numbers as likings of the topics, and an item has three topics, drawn uniformly, with
    absolute normal numbers as their parts; both are then scaled to norm 1. Nothing is negative
    in this world. The cosine of two weights is near 0.4 at 20 features, their distance near 1.1.
    With a link the weights are independent and uniform on the sphere.

    Parameters
    ----------
    n_users, n_clusters, n_items, n_features
        Sizes; users are assigned to clusters at random, every cluster gets at least one.
    gap
        Distance between the weights of two clusters: ``"orthogonal"`` (sqrt 2), or a number from
        0 to 2 (0.2 is a cosine of 0.98), or ``"random"``: independent weights.
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
    personal
        Each user's weights are the cluster's plus a part of this norm in a random direction of the
        user's own, scaled back to the norm of the cluster's. The true clusters stay what they are.
    misspecification
        The probability of every cluster (or user) and item is off by a number of their own, drawn
        uniformly from ``[-misspecification, misspecification]``; it stays within [0, 1].
    click_rates
        Probability of a click on an item of attraction 0 and on one of attraction 1, linear in
        between: ``(0.0, 0.03)`` is a world of rare clicks.
    intercept
        Whether the last of the ``n_features`` is the same for all items, ``sqrt(1/2)``; the others
        are then those of the world, times ``sqrt(1/2)``.
    changes
        What changes from phase to phase: newcomers, late joiners, switches of clusters, drift.
    seed
        Seed of weights, items and clusters. Arrivals and clicks have the seed of the run.

    Attributes
    ----------
    weights
        Of the clusters, one a row; of the users where they have a personal part. They are those
        of the first phase, and of the features without the intercept, before ``click_rates``.

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
        gap: float | Literal["orthogonal", "random"] = "orthogonal",
        items: Literal["fixed", "fresh"] = "fixed",
        arrivals: Arrivals = "uniform",
        click: ClickModel | None = None,
        cluster_sizes: npt.ArrayLike | None = None,
        link: str | Link = "identity",
        scale: float = 1.0,
        personal: float = 0.0,
        misspecification: float = 0.0,
        click_rates: Sequence[float] = (0.0, 1.0),
        intercept: bool = False,
        changes: Changes | None = None,
        seed: int = 0,
    ) -> None:
        n_users = validation.whole("n_users", n_users, low=1)
        n_items = validation.whole("n_items", n_items, low=1)
        self.intercept = validation.choice("intercept", intercept, (False, True))
        d = validation.whole("n_features", n_features, low=1 + self.intercept) - self.intercept
        m = validation.whole("n_clusters", n_clusters, low=1, high=n_users)
        validation.choice("items", items, ("fixed", "fresh"))
        linear = link == "identity"
        self.gap, self.items, self.link = gap, items, link
        self.seed = validation.whole("seed", seed, low=0)
        self.scale = validation.number("scale", scale, low=0, open_low=True)
        self.personal = validation.number("personal", personal, low=0)
        self.misspecification = validation.number("misspecification", misspecification, low=0)
        if linear and self.scale != 1:
            raise InvalidArgument(f"scale must be 1 in a world without a link, got {scale!r}")
        size = n_items
        if items == "fresh":
            size = max(FRESH_TABLE, 1 << (4 * n_items - 1).bit_length())
        plan = read_changes(changes)
        phases = plan.n_phases if plan.drift or plan.appeal else 1
        _check_size(phases * (n_users if self.personal else m), size)
        streams = np.random.SeedSequence(self.seed).spawn(7)
        rngs = [np.random.default_rng(stream) for stream in streams]
        likings, things, places, own, _, steps, errors = rngs  # the fifth is that of changes
        clusters = _clusters(n_users, m, cluster_sizes, places)
        weights, topics = _weights(m, d, gap, linear, likings)
        nobody, users = weights[:0], weights
        if self.personal:
            users = draws.unit(weights[clusters] + self.personal * draws.sphere(n_users, d, own))
        wary = users if self.personal and linear else nobody  # who must find nothing negative
        if topics is None:  # with a link no probability is negative
            features = draws.even_items(size, weights if linear else nobody, things, wary)
        else:
            features = draws.topic_items(size, topics, things, wary)
        features = draws.on_grid(features)
        self.weights = users if linear else self.scale * users
        moving = draws.drifting(self.weights, plan.n_phases, plan.drift, steps)
        z = np.array([now @ features.T for now in moving])
        attraction = np.clip(z if linear else read_link(link).mu(z), 0.0, 1.0)
        if self.misspecification:
            off = self.misspecification * errors.uniform(-1.0, 1.0, attraction.shape[1:])
            attraction = np.clip(attraction + off, 0.0, 1.0)
        super().__init__(
            draws.with_intercept(features) if self.intercept else features,
            at_rates(attraction, click_rates),
            np.arange(n_users) if self.personal else clusters,
            offered=n_items if items == "fresh" else None,
            arrivals=arrivals,
            click=click,
            partition=clusters,
            changes=plan,
            seed=self.seed,
        )


def _weights(
    m: int,
    d: int,
    gap: float | Literal["orthogonal", "random"],
    linear: bool,
    rng: np.random.Generator,
) -> tuple[Floats, Floats | None]:
    """Draw the weights of the clusters, and the topics where they are about topics."""
    if gap != "random":
        return draws.even_weights(m, d, _distance(gap, m), rng), None
    if not linear:
        return draws.sphere(m, d, rng), None
    topics = draws.axes(d, rng)
    return draws.topic_weights(m, topics, rng), topics


def _check_size(kinds: int, n_items: int) -> None:
    wanted = 8 * kinds * n_items
    if wanted > LARGEST:
        raise InvalidArgument(
            f"n_users, n_clusters and n_items must keep the table of probabilities within "
            f"{LARGEST:,} bytes, got {kinds} kinds of users x {n_items} items = {wanted:,} bytes"
        )


def _distance(gap: float | Literal["orthogonal"], n_clusters: int) -> float:
    if gap == "orthogonal":
        return math.sqrt(2.0)
    if isinstance(gap, str):
        raise InvalidArgument(
            f'gap must be "orthogonal", "random" or a number in [0, 2], got {gap!r}'
        )
    widest = 2.0 if n_clusters == 1 else math.sqrt(2.0 * n_clusters / (n_clusters - 1))
    return validation.number("gap", gap, low=0, high=round(min(widest, 2.0), 12))


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
