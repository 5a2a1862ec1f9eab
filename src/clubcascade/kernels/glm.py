"""A generalized linear model: its estimate, and the ridge matrix of its widths.

The estimate is a :mod:`likelihood <clubcascade.kernels.likelihood>`; the width of an item is that
of the linear model, ``sqrt(x' M^-1 x)`` with ``M = reg I + sum x x'``, as in the theorem on
generalized linear rewards. So a model ranks as a linear one does, with other weights: the link is
strictly increasing and does not change an order.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats
from clubcascade.kernels import factors, likelihood, linear, newton, online_newton, samples
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import kernel


@kernel
def add_to_gram(ridge: Any, g: int, x: Floats, y: float) -> None:
    """Add an observation to gram, inverse and moment of model ``g``, not to its weights."""
    direction = ridge.direction_work
    linear.times(ridge.inverse[g], x, direction)
    square = linear.dot(x, direction)
    if square > 0.0:
        linear.add_outer(ridge.inverse[g], -1.0 / (1.0 + square), direction)
        linear.add_outer(ridge.gram[g], 1.0, x)
        if y != 0.0:
            moment = ridge.moment[g]
            for f in range(x.shape[0]):
                moment[f] += y * x[f]
    ridge.count[g] += 1
    ridge.age[g] += 1


@kernel
def renew_inverse(ridge: Any, g: int) -> None:
    """Compute the inverse of model ``g`` anew from its Gram matrix; weights stay."""
    ridge.log_det[g] = factors.invert(ridge.gram[g], ridge.reg, ridge.matrix_work, ridge.inverse[g])
    ridge.age[g] = 0


@kernel
def _number(store: Any, x: Floats) -> int:
    """Return the number of an item in the store; -1 for zeros, which carry no information."""
    for f in range(x.shape[0]):
        if x[f] != 0.0:
            return samples.number(store, x)
    return -1


@kernel
def learn_estimate(
    fit: Any, g: int, store: Any, link: Any, items: Any, rows: Any, y: Any, n: int, settle: int
) -> None:
    """Give estimate ``g`` ``n`` observations; ``settle`` (1): its weights are needed now."""
    if not fit.keeps_samples:
        for p in range(n):
            online_newton.newton_step(fit, g, link, items[rows[p]], y[p])
        if fit.age[g] >= newton.RENEW:
            online_newton.solve_weights(fit, g)
        return
    for p in range(n):
        x = items[rows[p]]
        item = _number(store, x)
        if item >= 0:
            samples.count(fit.counts, g, item, int(y[p]))
            likelihood.follow(fit, g, link, x)
    if settle > 0:
        newton.solve(fit, g, store.items, link, 0)


@kernel
def add_drift(ridge: Any, g: int, before: Floats, step: Floats) -> None:
    """Add ``|weights - before|_M`` to the drift of model ``g``."""
    product = ridge.direction_work
    d = before.shape[0]
    for f in range(d):
        step[f] = ridge.weights[g, f] - before[f]
    linear.times(ridge.gram[g], step, product)
    square = linear.dot(step, product) + ridge.reg * linear.dot(step, step)
    ridge.drift[g] += math.sqrt(max(square, 0.0))


@kernel
def learn_model(
    ridge: Any, fit: Any, g: int, store: Any, link: Any, items: Any, rows: Any, y: Any, n: int
) -> None:
    """Learn ``n`` observations into model ``g`` and finish the round."""
    before = fit.before_work
    for f in range(before.shape[0]):
        before[f] = ridge.weights[g, f]
    for p in range(n):
        add_to_gram(ridge, g, items[rows[p]], y[p])
    if ridge.age[g] >= models.RENEW:
        renew_inverse(ridge, g)
    learn_estimate(fit, g, store, link, items, rows, y, n, 1)
    add_drift(ridge, g, before, fit.start_work)


@kernel
def recount(ridge: Any, g: int, fit: Any, store: Any) -> None:
    """Compute the statistics of model ``g`` from the counts of its estimate."""
    counts, items = fit.counts, store.items
    d = items.shape[1]
    gram, moment = ridge.gram[g], ridge.moment[g]
    for f in range(d):
        moment[f] = 0.0
        for h in range(d):
            gram[f, h] = 0.0
    for e in range(counts.begin[g], counts.begin[g] + counts.size[g]):
        x = items[counts.ids[e]]
        linear.add_outer(gram, float(counts.observations[e]), x)
        for f in range(d):
            moment[f] += counts.clicks[e] * x[f]
