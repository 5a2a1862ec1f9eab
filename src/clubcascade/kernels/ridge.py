"""Many ridge models side by side: one per cluster, per user, or one for all.

Model ``g`` holds ``M = reg I + gram`` by its ``gram`` and its explicit ``inverse``, which follows
each observation by a rank-one step and is computed anew after ``RENEW`` of them, which bounds the
rounding error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import factors, linear
from clubcascade.kernels.jit import Struct, kernel, struct

RENEW = 2048
"""Rank-one steps after which an inverse is computed anew from its Gram matrix."""


@struct
class Ridge(Struct):
    """Arrays of many ridge models with the ridge constant ``reg``.

    ``drift`` is the length of the path of ``weights``, each step measured in the norm of its own
    M; ``version`` counts the times that a model was replaced as a whole (split, merge). ``log_det``
    is kept up to date only if ``keeps_log_det``.
    """

    gram: Floats
    inverse: Floats
    moment: Floats
    weights: Floats
    count: Ints
    log_det: Floats
    age: Ints
    drift: Floats
    version: Ints
    reg: float
    keeps_log_det: bool
    direction_work: Floats
    scaled_work: Floats
    matrix_work: Floats


@kernel
def is_due(age: int) -> bool:
    """Tell whether weights updated step by step are to be computed from the inverse.

    About once in 32 steps, and a function of the age alone, so that a loaded model does the same.
    """
    return age % 32 < 4


@kernel
def clear(ridge: Ridge, g: int) -> None:
    """Make model ``g`` one without observations."""
    d = ridge.moment.shape[1]
    for f in range(d):
        for h in range(d):
            ridge.gram[g, f, h] = 0.0
            ridge.inverse[g, f, h] = 0.0
        ridge.inverse[g, f, f] = 1.0 / ridge.reg
        ridge.moment[g, f] = 0.0
        ridge.weights[g, f] = 0.0
    ridge.count[g] = 0
    ridge.log_det[g] = d * math.log(ridge.reg)
    ridge.age[g] = 0
    ridge.version[g] += 1


@kernel
def renew(ridge: Ridge, g: int) -> None:
    """Compute inverse, log-determinant and weights of model ``g`` from its Gram matrix."""
    ridge.log_det[g] = factors.invert(ridge.gram[g], ridge.reg, ridge.matrix_work, ridge.inverse[g])
    ridge.age[g] = 0
    linear.times(ridge.inverse[g], ridge.moment[g], ridge.weights[g])


@kernel
def clear_many(ridge: Ridge, low: int, high: int) -> None:
    """Make the models ``low`` to ``high - 1`` ones without observations."""
    for g in range(low, high):
        clear(ridge, g)


@kernel
def renew_many(ridge: Ridge, low: int, high: int) -> None:
    """Do what :func:`renew` does, with scratch of its own: threads may share the models."""
    d = ridge.moment.shape[1]
    work = np.empty((d, d))
    for g in range(low, high):
        ridge.log_det[g] = factors.invert(ridge.gram[g], ridge.reg, work, ridge.inverse[g])
        ridge.age[g] = 0
        linear.times(ridge.inverse[g], ridge.moment[g], ridge.weights[g])


@kernel
def observe(ridge: Ridge, g: int, x: Floats, y: float) -> None:
    """Add an observation (x, y) to model ``g``: y = 1 for a click, 0 for a pass."""
    d = x.shape[0]
    inverse = ridge.inverse[g]
    weights = ridge.weights[g]
    direction = ridge.direction_work
    linear.times(inverse, x, direction)
    square = linear.dot(x, direction)
    if square > 0.0:
        shrink = 1.0 / (1.0 + square)
        error = y - linear.dot(weights, x)
        linear.add_outer(inverse, -shrink, direction)
        step = error * shrink
        for f in range(d):
            weights[f] += step * direction[f]
        ridge.drift[g] += abs(error) * math.sqrt(square * shrink)
        if ridge.keeps_log_det:
            ridge.log_det[g] += math.log1p(square)
        linear.add_outer(ridge.gram[g], 1.0, x)
        if y != 0.0:
            moment = ridge.moment[g]
            for f in range(d):
                moment[f] += y * x[f]
    ridge.count[g] += 1
    ridge.age[g] += 1


@kernel
def discount_at(discounts: Floats, position: int) -> float:
    """Discount of a position; positions beyond the end have the last one's."""
    return discounts[min(position, discounts.shape[0] - 1)]


@kernel
def discounted(ridge: Ridge, discount: float, x: Floats) -> Any:
    """Return ``discount`` times an item, in scratch that lasts until the next call."""
    scaled = ridge.scaled_work
    for f in range(x.shape[0]):
        scaled[f] = discount * x[f]
    return scaled


@kernel
def settle(ridge: Ridge, g: int) -> None:
    """Finish a round: at times compute weights from the inverse, rarely both anew."""
    if ridge.age[g] >= RENEW:
        renew(ridge, g)
    elif is_due(ridge.age[g]):
        linear.times(ridge.inverse[g], ridge.moment[g], ridge.weights[g])


@kernel
def add(ridge: Ridge, g: int, gram: Floats, moment: Floats, count: int, sign: float) -> None:
    """Add (or with ``sign`` -1 take away) statistics; the caller renews the model."""
    linear.add_both(ridge.gram[g], ridge.moment[g], sign, gram, moment)
    ridge.count[g] += np.int64(sign) * count
    ridge.version[g] += 1
