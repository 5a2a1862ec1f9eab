"""Random small problems for the comparison of policies with their references.

Hypothesis draws the sizes and the story (who comes, how long the list is, what is clicked); a
seed draws the features. A problem mixes loose items, fresh items and two catalogues; lists that
the policy chose and lists that somebody else chose; cascade feedback and feedback with several
clicks; users of different tastes, so that a graph of users falls apart only in part; zero
vectors, duplicate items, a single item.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels.jit import INTERPRETED

TOLERANCE = 1e-8

ID_STYLES = [lambda i: i, lambda i: f"user {i}", lambda i: ("de", i), lambda i: i - 100]


def examples(count):
    """Settings of a comparison: so many problems, the same ones in every run.

    Without a compiler only a few of them: each takes a hundred times longer.
    """
    if INTERPRETED:
        count = 1 + count // 50
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=slow)


@dataclass
class Round:
    """One round: who comes, what may be shown, and how the user will look at the list."""

    user: Hashable
    items: np.ndarray  # the rows that may be shown
    catalog: cc.Catalog | None  # the same rows as a catalogue, or None for a loose array
    k: int
    override: np.ndarray | None  # a list that somebody else chose; None: the policy's own
    kind: str
    number: int
    taste: np.ndarray

    @property
    def offered(self):
        return self.items if self.catalog is None else self.catalog

    def shown(self, ranking):
        """The argument of ``update`` for a list of row numbers."""
        return self.items[ranking] if self.catalog is None else self.catalog[ranking]

    def look(self, ranking):
        """What is known of the list: how many items were looked at, which were clicked."""
        k = len(ranking)
        if self.kind == "none":
            return k, ()
        if self.kind == "click":
            position = self.number % k
            return position + 1, (position,)
        if self.kind == "several":
            examined = 1 + self.number % k
            bits = self.number // 16
            return examined, tuple(p for p in range(examined) if bits >> p & 1)
        liked = np.flatnonzero(self.items[ranking] @ self.taste > 0.2)
        return (k, ()) if len(liked) == 0 else (int(liked[0]) + 1, (int(liked[0]),))

    def click(self, examined, clicks):
        """The ``click`` argument of ``update`` that says the same."""
        if self.kind == "several":
            return cc.Feedback(examined=examined, clicks=clicks)
        return clicks[0] if clicks else None


@dataclass
class Problem:
    """A story of rounds, and the users in it; the first ``known`` are known beforehand."""

    d: int
    users: list[Hashable]
    known: int
    catalogs: list[cc.Catalog]
    rounds: list[Round] = field(repr=False)
    seed: int

    @property
    def early(self):
        return self.users[: self.known]


def vectors(rng, n_items, d):
    """Items of many kinds: inside the ball, on the sphere, zero, and duplicates."""
    rows = rng.standard_normal((n_items, d))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    inside = rng.random(n_items) < 0.6
    rows[inside] *= rng.random((int(inside.sum()), 1))
    if rng.random() < 0.3:
        rows = np.abs(rows)
    for row in range(n_items):
        luck = rng.random()
        if luck < 0.08:
            rows[row] = 0.0
        elif luck < 0.2:
            rows[row] = rows[rng.integers(n_items)]
    return rows


@st.composite
def problems(draw, most_rounds=24, only_catalogs=False, one_catalog=False):
    """A random problem. ``only_catalogs``: no loose items."""
    d = draw(st.integers(1, 5))
    n_users = draw(st.integers(1, 8))
    known = draw(st.integers(0, n_users))
    n_items = draw(st.integers(1, 12))
    seed = draw(st.integers(0, 2**32 - 1))
    style = draw(st.sampled_from(ID_STYLES))
    rng = np.random.default_rng(seed)
    users = [style(i) for i in range(n_users)]
    catalogs = [cc.Catalog(vectors(rng, n_items, d)) for _ in range(1 if one_catalog else 2)]
    n_tastes = int(rng.integers(1, 4))
    tastes = rng.standard_normal((n_tastes, d))
    tastes /= np.linalg.norm(tastes, axis=1, keepdims=True)
    kinds = ["none", "click", "click", "several", "taste", "taste", "taste"]
    sources = ["catalog", "catalog", "other"]
    sources += [] if only_catalogs else ["loose", "fresh"]
    step = st.tuples(
        st.integers(0, n_users - 1),
        st.integers(1, n_items),
        st.sampled_from(sources),
        st.sampled_from(kinds),
        st.integers(0, 2**16 - 1),
        st.booleans(),
    )
    n_rounds = draw(st.integers(1, most_rounds))
    rounds = []
    for who, k, source, kind, number, own in draw(
        st.lists(step, min_size=n_rounds, max_size=n_rounds)
    ):
        catalog = None
        if source == "fresh":
            items = vectors(rng, n_items, d)
        elif source == "loose":
            items = catalogs[0].features
        else:
            catalog = catalogs[-1 if source == "other" else 0]
            items = catalog.features
        override = None if own else rng.permutation(n_items)[:k]
        taste = tastes[who % n_tastes]
        rounds.append(Round(users[who], items, catalog, k, override, kind, number, taste))
    return Problem(d, users, known, catalogs, rounds, seed)


def busy_problem(seed, n_rounds=60):
    """A long story of many users who come one after the other, all of it from a seed.

    Hypothesis likes small examples; here components split and merge again and again.
    """
    rng = np.random.default_rng(seed)
    d, n_users, n_items = int(rng.integers(1, 6)), int(rng.integers(6, 15)), 12
    users = [ID_STYLES[seed % len(ID_STYLES)](i) for i in range(n_users)]
    known = int(rng.integers(0, n_users))
    catalogs = [cc.Catalog(vectors(rng, n_items, d)) for _ in range(2)]
    tastes = rng.standard_normal((3, d))
    tastes /= np.linalg.norm(tastes, axis=1, keepdims=True)
    kinds = ["taste"] * 7 + ["none", "click", "several"]
    rounds = []
    for t in range(n_rounds):
        present = max(1, known + (n_users - known) * t // n_rounds)
        who = int(rng.integers(present))
        catalog = None if rng.random() < 0.2 else catalogs[int(rng.random() < 0.2)]
        items = vectors(rng, n_items, d) if catalog is None else catalog.features
        k = int(rng.integers(1, 6))
        override = rng.permutation(n_items)[:k] if rng.random() < 0.3 else None
        kind, number = kinds[rng.integers(len(kinds))], int(rng.integers(2**16))
        taste = tastes[who % len(tastes)]
        rounds.append(Round(users[who], items, catalog, k, override, kind, number, taste))
    return Problem(d, users, known, catalogs, rounds, seed)


def assert_best(ranking, bounds, k, tolerance=TOLERANCE):
    """The list has k distinct items, and their bounds are the k largest: ties are legal."""
    ranking = np.asarray(ranking)
    assert ranking.shape == (k,)
    assert len(set(ranking.tolist())) == k
    best = np.sort(bounds)[::-1][:k]
    assert_near(bounds[ranking], best, "bounds of the chosen items", tolerance)


def assert_near(found, expected, what, tolerance=TOLERANCE):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite]), f"{what}: {found}, not {expected}"
    worst = np.max(np.abs(found[finite] - expected[finite]), initial=0.0)
    assert worst <= tolerance, f"{what}: off by {worst}"


def partition(clusters):
    """Clusters as a set of frozensets; every user in exactly one."""
    parts = [frozenset(part) for part in clusters]
    members = [user for part in parts for user in part]
    assert len(members) == len(set(members)), "a user is in two clusters"
    assert all(parts), "an empty cluster"
    return set(parts)


def play(problem, policy, bounds, update, after=None, capped=True, check=None):
    """Run a problem through a policy and a reference, comparing lists and scores each round.

    ``bounds(round)`` gives the reference's bounds, ``update(round, rows, ranking, examined,
    clicks)`` teaches it, ``after(round)`` compares more and says whether to go on. A policy that
    does not show the items of the largest bounds has a ``check(round, bounds, ranking)``.
    """
    for step in problem.rounds:
        expected = bounds(step)
        ranking = policy.recommend(step.user, step.offered, step.k)
        if check is None:
            assert_best(ranking, expected, step.k)
        else:
            check(step, expected, ranking)
        if capped:
            scores = policy.scores(step.user, step.offered)
            assert_near(scores, np.minimum(expected, 1.0), "scores")
        chosen = ranking if step.override is None else step.override
        examined, clicks = step.look(chosen)
        policy.update(step.user, step.shown(chosen), step.click(examined, clicks))
        update(step, step.items[chosen], chosen, examined, clicks)
        if after is not None and after(step) is False:
            return
