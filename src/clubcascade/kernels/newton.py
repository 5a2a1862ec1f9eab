"""Estimates that solve Equation (8) of the paper, found by Newton's method, from the last estimate.

The inverse of the second derivative (``curve``) is kept between rounds and follows each sample by
a rank-one step and each Newton step by a BFGS update; where the gradient does not fall quickly, it
is computed anew and steps are halved until the gradient falls.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats
from clubcascade.kernels import factors, likelihood, linear
from clubcascade.kernels.jit import kernel
from clubcascade.kernels.likelihood import Likelihood

TOLERANCE = 1e-9
"""How far, about, an estimate may be from the solution (Euclidean)."""
LAST_STEP = 1e-5
"""A full Newton step of this length is the last: the error left is of the order of its square."""
LARGEST_FIRST_STEP = 0.5
"""A first step of this length or more is left to the damped search."""
RATE = 0.3
"""Rate that a kept inverse must achieve: each step at most this fraction of the last."""
MAX_QUICK_STEPS, MAX_STEPS = 12, 400
"""Steps with a kept inverse, and steps of the damped search (halvings included), at the most."""
RENEW = 2048
"""Samples after which a kept inverse is computed anew."""


@kernel
def _length(x: Floats) -> float:
    return math.sqrt(linear.inner(x, x))


@kernel
def _secant(curve: Floats, step: Floats, change: Floats, work: Floats) -> None:
    """Make the inverse map a step's ``change`` of the gradient to the ``step`` (BFGS)."""
    d = step.shape[0]
    along = linear.inner(step, change)
    if not along > 0.0:
        return
    linear.times(curve, change, work)
    scale = (1.0 + linear.inner(change, work) / along) / along
    for f in range(d):
        row = curve[f]
        to_step, to_work = scale * step[f] - work[f] / along, step[f] / along
        for h in range(d):
            row[h] += to_step * step[h] - to_work * work[h]


@kernel
def _refine(fit: Likelihood, g: int, items: Floats, link: Any) -> bool:
    """Quasi-Newton steps with the kept inverse; False, weights unchanged, if they are slow."""
    theta, curve = fit.weights[g], fit.curve[g]
    start, slope, step = fit.start_work, fit.gradient_work, fit.step_work
    other, change = fit.other_work, fit.trial_work
    d = theta.shape[0]
    for f in range(d):
        start[f] = theta[f]
    last = 1.0
    for turn in range(MAX_QUICK_STEPS):
        likelihood.gradient(fit, g, items, link, theta, other)
        if turn > 0:
            for f in range(d):
                change[f] = other[f] - slope[f]
            _secant(curve, step, change, slope)
        for f in range(d):
            slope[f] = other[f]
        linear.times(curve, slope, step)
        length = _length(step)
        if not length <= (RATE * last if turn > 0 else LARGEST_FIRST_STEP):
            break
        for f in range(d):
            step[f] = -step[f]
            theta[f] += step[f]
        if length * (length / last if turn > 0 else 1.0) <= TOLERANCE:
            return True
        last = length
    for f in range(d):
        theta[f] = start[f]
    return False


@kernel
def _gradient_step_inverse(second: Floats, penalty: float, out: Floats) -> None:
    """Make ``out`` a multiple of the identity below the inverse of the second derivative."""
    d = out.shape[0]
    total = penalty
    for f in range(d):
        total += second[f, f]
    for f in range(d):
        for h in range(d):
            out[f, h] = 0.0
        out[f, f] = 1.0 / total


@kernel
def _search(fit: Likelihood, g: int, items: Floats, link: Any, curve: Floats) -> None:
    """Newton's method with the second derivative at every step, halved until the gradient falls."""
    theta = fit.weights[g]
    slope, step = fit.gradient_work, fit.step_work
    trial, other = fit.trial_work, fit.other_work
    d = theta.shape[0]
    fit.age[g] = 0
    for f in range(d):
        step[f] = 0.0
    height, length, scale = math.inf, math.inf, 0.0
    for _ in range(MAX_STEPS):
        for f in range(d):
            trial[f] = theta[f] - scale * step[f]
        likelihood.gradient(fit, g, items, link, trial, other)
        if not _length(other) <= (1.0 - 1e-4 * scale) * height:
            scale *= 0.5
            if scale < 1e-10:
                return
            continue
        height = _length(other)
        for f in range(d):
            theta[f] = trial[f]
            slope[f] = other[f]
        if scale == 1.0 and length <= LAST_STEP:
            return
        likelihood.curvature(fit, g, items, link, fit.hessian_work)
        factors.invert(fit.hessian_work, fit.penalty, fit.factor_work, curve)
        linear.times(curve, slope, step)
        length = _length(step)
        if not math.isfinite(length):  # the inverse is not precise enough: a gradient step
            _gradient_step_inverse(fit.hessian_work, fit.penalty, curve)
            linear.times(curve, slope, step)
            length = _length(step)
        if length <= 1e-14 * (1.0 + _length(theta)):
            return
        scale = 1.0


@kernel
def solve(fit: Likelihood, g: int, items: Floats, link: Any, anew: int) -> None:
    """Bring estimate ``g`` up to date; ``anew`` (1) after its samples have changed as a whole."""
    kept = fit.curve.shape[0] > 0
    if kept and anew == 0 and fit.age[g] < RENEW and _refine(fit, g, items, link):
        return
    _search(fit, g, items, link, fit.curve[g] if kept else fit.inverse_work)
