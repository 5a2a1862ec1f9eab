"""Many maximum likelihood estimates side by side, of the samples in counts per item.

The estimate ``theta`` of one set of users solves Equation (8) of the paper with a penalty:

    penalty theta + sum over items of (looks mu(theta . x) - clicks) x = 0.

The left side is the gradient of a strictly convex function, so there is exactly one solution, also
for separable samples or none. It is found by Newton's method from the last estimate. The inverse
of the second derivative (``curve``) is kept between rounds and follows each sample by a rank-one
step and each Newton step by the secant rule of Broyden, Fletcher, Goldfarb and Shanno; where it
does not bring the gradient down quickly, it is computed anew and steps are halved until the
gradient falls.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear, links, samples
from clubcascade.kernels.jit import Struct, StructType, kernel, struct

BLOCK = 64
"""Items whose means are computed side by side."""
TOLERANCE = 1e-9
"""How far, about, an estimate may be from the solution (Euclidean)."""
NEAR = 1e-5
"""A full Newton step of this length is the last: the error left is of the order of its square."""
FAR = 0.5
"""A first step of this length or more is left to the careful search."""
RATE = 0.3
"""What a kept inverse must achieve: each step at most this fraction of the one before."""
MOST_QUICK, MOST = 12, 400
"""Steps with a kept inverse, and steps of the careful search (halvings included), at the most."""
RENEW = 2048
"""Samples after which a kept inverse is computed anew."""
_START, _GRADIENT, _STEP, _TRIAL, _OTHER, BEFORE = 0, 1, 2, 3, 4, 5
VECTORS, MATRICES = 6, 3
"""Numbers of scratch vectors and matrices; ``BEFORE`` is left alone by all estimates."""


class LikelihoodType(StructType):
    """Type of :class:`Likelihood`."""


@struct(LikelihoodType)
class Likelihood(Struct):
    """Estimates 0, 1, ... and what they are made from.

    Per estimate: ``weights``; ``curve`` (no rows: nothing is kept, each solve computes its own);
    ``age``, samples since ``curve`` was computed; its list in ``counts``. For estimates that see
    every sample once and keep none, ``second`` and ``target`` instead of the list: their loss is
    ``theta' second theta / 2 - target . theta``. ``rule`` = [penalty, 1 to keep no samples]; the
    rest is scratch.
    """

    weights: Floats
    curve: Floats
    age: Ints
    second: Floats
    target: Floats
    counts: samples.Counts
    rule: Floats
    vectors: Floats
    matrices: Floats
    block: Floats


@kernel
def make(*fields: Any) -> Likelihood:
    """Bind arrays into one structure that the kernels take."""
    return Likelihood(*fields)


@kernel
def clear(fit: Likelihood, g: int) -> None:
    """Make estimate ``g`` one that has seen nothing."""
    d = fit.weights.shape[1]
    for f in range(d):
        fit.weights[g, f] = 0.0
    if fit.curve.shape[0] > 0:
        for f in range(d):
            for h in range(d):
                fit.curve[g, f, h] = 0.0
            fit.curve[g, f, f] = 1.0 / fit.rule[0]
    if fit.second.shape[0] > 0:
        for f in range(d):
            for h in range(d):
                fit.second[g, f, h] = 0.0
            fit.target[g, f] = 0.0
    fit.age[g] = 0
    fit.counts.size[g] = 0


@kernel
def inner(a: Floats, b: Floats) -> float:
    """Inner product in four sums side by side: a single one would wait for itself."""
    d = a.shape[0]
    whole = d // 4 * 4
    s0 = s1 = s2 = s3 = 0.0
    for f in range(0, whole, 4):
        s0 += a[f] * b[f]
        s1 += a[f + 1] * b[f + 1]
        s2 += a[f + 2] * b[f + 2]
        s3 += a[f + 3] * b[f + 3]
    for f in range(whole, d):
        s0 += a[f] * b[f]
    return (s0 + s1) + (s2 + s3)


@kernel
def add_rows(items: Floats, ids: Ints, factor: Floats, out: Floats) -> None:
    """Add ``factor[j]`` times item ``ids[j]`` to ``out``, four at a time."""
    n, d = ids.shape[0], out.shape[0]
    whole = n // 4 * 4
    for j in range(0, whole, 4):
        a, b, c, e = factor[j], factor[j + 1], factor[j + 2], factor[j + 3]
        x0, x1, x2, x3 = items[ids[j]], items[ids[j + 1]], items[ids[j + 2]], items[ids[j + 3]]
        for f in range(d):
            out[f] = (((out[f] + a * x0[f]) + b * x1[f]) + c * x2[f]) + e * x3[f]
    for j in range(whole, n):
        x, a = items[ids[j]], factor[j]
        for f in range(d):
            out[f] += a * x[f]


@kernel
def gradient(fit: Likelihood, g: int, items: Floats, link: Any, theta: Floats, out: Floats) -> None:
    """Left side of the equation of estimate ``g`` at ``theta``."""
    d = theta.shape[0]
    for f in range(d):
        out[f] = fit.rule[0] * theta[f]
    ids, looks, clicks = fit.counts.ids, fit.counts.looks, fit.counts.clicks
    z, mean, slope = fit.block[0], fit.block[1], fit.block[2]
    end = fit.counts.begin[g] + fit.counts.size[g]
    for start in range(fit.counts.begin[g], end, BLOCK):
        n = min(BLOCK, end - start)
        for j in range(n):
            z[j] = inner(items[ids[start + j]], theta)
        links.evaluate(link, z, n, mean, slope)
        for j in range(n):
            mean[j] = looks[start + j] * mean[j] - clicks[start + j]
        add_rows(items, ids[start : start + n], mean, out)


@kernel
def curvature(fit: Likelihood, g: int, items: Floats, link: Any, out: Floats) -> None:
    """Second derivative of estimate ``g`` at its weights, without the penalty."""
    theta = fit.weights[g]
    d = theta.shape[0]
    for f in range(d):
        for h in range(d):
            out[f, h] = 0.0
    ids, looks = fit.counts.ids, fit.counts.looks
    z, mean, slope = fit.block[0], fit.block[1], fit.block[2]
    end = fit.counts.begin[g] + fit.counts.size[g]
    for start in range(fit.counts.begin[g], end, BLOCK):
        n = min(BLOCK, end - start)
        for j in range(n):
            z[j] = inner(items[ids[start + j]], theta)
        links.evaluate(link, z, n, mean, slope)
        for j in range(n):
            linear.add_outer(out, looks[start + j] * slope[j], items[ids[start + j]])


@kernel
def follow(fit: Likelihood, g: int, link: Any, x: Floats) -> None:
    """Let the kept inverse of estimate ``g`` follow one more look at ``x``."""
    if fit.curve.shape[0] == 0:
        return
    moved = fit.vectors[_STEP]
    linear.times(fit.curve[g], x, moved)
    _, slope = links.at(link, inner(fit.weights[g], x))
    linear.add_outer(fit.curve[g], -slope / (1.0 + slope * inner(x, moved)), moved)
    fit.age[g] += 1


@kernel
def _length(x: Floats) -> float:
    return math.sqrt(inner(x, x))


@kernel
def _secant(curve: Floats, step: Floats, change: Floats, work: Floats) -> None:
    """Make the inverse map a step's ``change`` of the gradient to the ``step`` (BFGS)."""
    d = step.shape[0]
    along = inner(step, change)
    if not along > 0.0:
        return
    linear.times(curve, change, work)
    scale = (1.0 + inner(change, work) / along) / along
    for f in range(d):
        row = curve[f]
        to_step, to_work = scale * step[f] - work[f] / along, step[f] / along
        for h in range(d):
            row[h] += to_step * step[h] - to_work * work[h]


@kernel
def _refine(fit: Likelihood, g: int, items: Floats, link: Any) -> bool:
    """Step with the kept inverse; False, and nothing moved, if that does not go quickly."""
    theta, curve = fit.weights[g], fit.curve[g]
    start, slope, step = fit.vectors[_START], fit.vectors[_GRADIENT], fit.vectors[_STEP]
    other, change = fit.vectors[_OTHER], fit.vectors[_TRIAL]
    d = theta.shape[0]
    for f in range(d):
        start[f] = theta[f]
    last = 1.0
    for turn in range(MOST_QUICK):
        gradient(fit, g, items, link, theta, other)
        if turn > 0:
            for f in range(d):
                change[f] = other[f] - slope[f]
            _secant(curve, step, change, slope)
        for f in range(d):
            slope[f] = other[f]
        linear.times(curve, slope, step)
        length = _length(step)
        if not length <= (RATE * last if turn > 0 else FAR):
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
def _flatten(second: Floats, penalty: float, out: Floats) -> None:
    """Make ``out`` the inverse of a multiple of the identity above the second derivative."""
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
    slope, step = fit.vectors[_GRADIENT], fit.vectors[_STEP]
    trial, other = fit.vectors[_TRIAL], fit.vectors[_OTHER]
    d = theta.shape[0]
    fit.age[g] = 0
    for f in range(d):
        step[f] = 0.0
    height, length, scale = math.inf, math.inf, 0.0
    for _ in range(MOST):
        for f in range(d):
            trial[f] = theta[f] - scale * step[f]
        gradient(fit, g, items, link, trial, other)
        if not _length(other) <= (1.0 - 1e-4 * scale) * height:
            scale *= 0.5
            if scale < 1e-10:
                return
            continue
        height = _length(other)
        for f in range(d):
            theta[f] = trial[f]
            slope[f] = other[f]
        if scale == 1.0 and length <= NEAR:
            return
        curvature(fit, g, items, link, fit.matrices[0])
        linear.invert(fit.matrices[0], fit.rule[0], fit.matrices[1], curve)
        linear.times(curve, slope, step)
        length = _length(step)
        if not math.isfinite(length):  # beyond the precision of an inverse: the steepest way down
            _flatten(fit.matrices[0], fit.rule[0], curve)
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
    _search(fit, g, items, link, fit.curve[g] if kept else fit.matrices[2])
