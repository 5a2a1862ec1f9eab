"""The random weights and items of the synthetic worlds: which laws they have."""

from collections.abc import Callable

import numpy as np

from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument

TOPICS = 3
"""Topics of an item, in a world where every item has a few."""
_BLOCK = 100  # users whose probabilities are computed together


def even_weights(m: int, d: int, distance: float, rng: np.random.Generator) -> Floats:
    """Draw ``m`` unit vectors, all pairs ``distance`` apart, in a random direction."""
    cosine = 1.0 - distance**2 / 2.0
    needed = 1 if distance == 0.0 else m
    if needed > d:
        raise InvalidArgument(
            f"n_clusters must be at most n_features, {d}, to keep all clusters at the same "
            f'distance, got {m}; gap = "random" has no such limit'
        )
    basis, _ = np.linalg.qr(rng.standard_normal((d, min(m, d))))
    apart = np.sqrt(max(1.0 - cosine, 0.0))
    if needed == 1:
        return np.tile(basis[:, 0], (m, 1))
    # The square root of the Gram matrix in closed form: its eigenvectors are not unique, and a
    # decomposition would draw other worlds on other processors.
    shared = (np.sqrt(max(1.0 + (m - 1) * cosine, 0.0)) - apart) / m
    weights: Floats = (apart * np.eye(m) + shared) @ basis.T
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return weights


def sphere(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw ``n`` independent unit vectors, uniform on the sphere."""
    return unit(rng.standard_normal((n, d)))


def axes(d: int, rng: np.random.Generator) -> Floats:
    """Draw an orthonormal basis, one direction a row: what the topics are."""
    return np.ascontiguousarray(np.linalg.qr(rng.standard_normal((d, d)))[0].T)


def topic_weights(m: int, topics: Floats, rng: np.random.Generator) -> Floats:
    """Draw ``m`` independent unit vectors: the liking of a topic is a squared normal number."""
    likings = rng.standard_normal((m, len(topics))) ** 2
    return np.asarray(unit(likings) @ topics)


def topic_items(n: int, topics: Floats, rng: np.random.Generator, users: Floats) -> Floats:
    """Draw unit vectors of a few topics each, until ``n`` have no negative probability."""
    d = len(topics)

    def draw(size: int) -> Floats:
        parts = abs(rng.standard_normal((size, d)))
        order = rng.random((size, d)).argsort(axis=1)
        np.put_along_axis(parts, order[:, TOPICS:], 0.0, axis=1)
        return np.asarray(unit(parts) @ topics)

    return _accepted(n, draw, users)


def even_items(n: int, weights: Floats, rng: np.random.Generator, users: Floats) -> Floats:
    """Draw unit vectors until ``n`` of them have no negative probability.

    A draw is first mirrored to the first cluster's side, which keeps its law within the allowed
    part and makes near clusters accept almost everything; orthogonal clusters mirror one after
    the other and accept all.

    Neither a cluster of ``weights`` nor one of ``users`` may find an item negative.
    """
    m, d = weights.shape
    cosines = weights @ weights.T
    mirrors = weights if abs(cosines - np.eye(m)).max(initial=0.0) < 1e-9 else weights[:1]

    def draw(size: int) -> Floats:
        draws = rng.standard_normal((size, d))
        for mirror in mirrors:
            draws -= 2.0 * np.minimum(draws @ mirror, 0.0)[:, None] * mirror
        draws = unit(draws)
        return np.asarray(draws[(draws @ weights.T >= 0.0).all(axis=1)])

    return _accepted(n, draw, users)


def unit(rows: Floats) -> Floats:
    """Return the rows with norm 1; a row of zeros stays one."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))


def on_grid(items: Floats) -> Floats:
    """Return the items rounded to multiples of 2^-24.

    Linear algebra rounds differently on other processors. All unit vectors tie in the first round:
    without a grid the last bit would decide it, and one seed would tell another story there.
    """
    return np.asarray(np.rint(items * 2.0**24) / 2.0**24)


def drifting(weights: Floats, n_phases: int, step: float, rng: np.random.Generator) -> list[Floats]:
    """Return the weights of each phase, a random step from those before; once without a step."""
    phases = [weights]
    for _ in range(n_phases - 1 if step else 0):
        norms = np.linalg.norm(weights, axis=1, keepdims=True)
        moved = phases[-1] + step * norms * sphere(len(weights), weights.shape[1], rng)
        phases.append(norms * unit(moved))
    return phases


def with_intercept(features: Floats) -> Floats:
    """Return items of norm 1 with one more feature, which they have in common.

    >>> with_intercept(np.eye(2)).round(3)
    array([[0.707, 0.   , 0.707],
           [0.   , 0.707, 0.707]])
    """
    return np.asarray(np.column_stack([features, np.ones(len(features))]) * np.sqrt(0.5))


def _accepted(n: int, draw: Callable[[int], Floats], users: Floats) -> Floats:
    """Draw items until ``n`` of them are found negative by no user, some users at a time."""
    kept: list[Floats] = []
    found, tried, size = 0, 0, max(2 * n, 1024)
    while found < n:
        items = draw(size)
        for start in range(0, len(users), _BLOCK):
            items = items[(items @ users[start : start + _BLOCK].T >= 0.0).all(axis=1)]
        kept.append(items)
        found, tried = found + len(items), tried + size
        if tried > 10_000_000 and found < n:
            raise InvalidArgument(
                f"gap and personal leave no room for items that nobody finds negative: "
                f"{found} of {tried} draws were usable; use a smaller gap, a smaller personal part "
                f"or fewer clusters"
            )
    return np.ascontiguousarray(np.concatenate(kept)[:n])
