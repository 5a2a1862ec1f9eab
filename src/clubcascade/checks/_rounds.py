"""A small, busy history for the checks: users, lists and clicks of every kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Feedback, Ints, Policy
from clubcascade.core.state import same

__all__ = ["Event", "catalog_for", "check_list", "learned", "run_rounds", "trained", "same"]

ROUNDS = 60
USERS = 6
K = 3


@dataclass(frozen=True)
class Event:
    """One round: who came, what was shown, and the feedback."""

    user: int
    ranking: Ints
    feedback: Feedback


def catalog_for(policy: Policy) -> Catalog:
    """Make a catalogue of 12 items, one of them zero and one twice."""
    d = policy.n_features or 3
    rng = np.random.default_rng(11)
    items = rng.standard_normal((12, d))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    items *= rng.uniform(0.3, 1.0, (12, 1))
    items[4] = 0.0
    items[7] = items[2]
    return Catalog(items)


def true_weights(d: int) -> Any:
    """Return one weight vector per user, in two opposite groups."""
    rng = np.random.default_rng(5)
    base = rng.standard_normal(d)
    return np.array([base if user % 2 else -base for user in range(USERS)])


def check_list(ranking: Any, k: int, n_items: int) -> None:
    """Assert that ``recommend`` returned an array of ``k`` distinct rows of ``n_items``."""
    assert isinstance(ranking, np.ndarray) and ranking.dtype.kind in "iu", (
        f"wanted a NumPy array of row numbers, got {ranking!r}"
    )
    assert ranking.shape == (k,), f"wanted {k} rows, got {ranking!r}"
    assert len(set(ranking.tolist())) == k, f"a row twice in {ranking!r}"
    assert 0 <= ranking.min() <= ranking.max() < n_items, f"no such row: {ranking!r}"


def run_rounds(policy: Policy, catalog: Catalog, rounds: int = ROUNDS) -> Iterator[Event]:
    """Let the policy learn from a seeded audience, yielding each round after its update."""
    rng = np.random.default_rng(3)
    weights = true_weights(catalog.n_features)
    for _ in range(rounds):
        user = int(rng.integers(USERS))
        ranking = policy.recommend(user, catalog, K)
        check_list(ranking, K, len(catalog))
        probability = 1.0 / (1.0 + np.exp(-4.0 * catalog.features[ranking] @ weights[user]))
        liked = np.flatnonzero(rng.random(K) < 0.8 * probability)
        if rng.random() < 0.2 and liked.size:
            clicks = tuple(int(position) for position in liked)
            feedback = Feedback(examined=clicks[-1] + 1, clicks=clicks)
        else:
            feedback = Feedback.from_click(int(liked[0]) if liked.size else None, K)
        policy.update(user, catalog[ranking], feedback)
        yield Event(user, ranking, feedback)


def trained(policy: Policy) -> tuple[Catalog, list[Event]]:
    """Run all rounds and return the catalogue and the log."""
    catalog = catalog_for(policy)
    return catalog, list(run_rounds(policy, catalog))


def learned(policy: Policy) -> dict[str, Any]:
    """Return the state without the place in the stream of draws."""
    return {name: value for name, value in policy.state().items() if name != "draws"}
