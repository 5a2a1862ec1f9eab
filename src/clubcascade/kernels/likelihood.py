"""Many estimates side by side, solutions of Equation (8) of the paper, from counts per item.

The estimate ``theta`` of one set of users solves Equation (8) of the paper with a penalty:

    penalty theta + sum over items of (observations mu(theta . x) - clicks) x = 0.

The left side is the gradient of a strictly convex function, so there is exactly one solution, also
for separable samples or none. It is found in :mod:`clubcascade.kernels.newton`.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear, links, samples
from clubcascade.kernels.jit import Struct, kernel, struct

BLOCK = 64
"""Items whose means are computed side by side."""
WORK_VECTORS = (
    "start_work",
    "gradient_work",
    "step_work",
    "trial_work",
    "other_work",
    "before_work",
)
WORK_MATRICES = ("hessian_work", "factor_work", "inverse_work")
WORK_BLOCKS = ("product_block", "mean_block", "slope_block")
"""Names of the scratch arrays; ``before_work`` is left alone by all estimates."""


@struct
class Likelihood(Struct):
    """Estimates 0, 1, ... and what they are made from.

    Per estimate: ``weights``; ``curve`` (no rows: nothing is kept, each solve computes its own);
    ``age``, samples since ``curve`` was computed; its list in ``counts``. For estimates that see
    every sample once and keep none, ``second`` and ``target`` instead of the list: their loss is
    ``theta' second theta / 2 - target . theta``. The rest is scratch.
    """

    weights: Floats
    curve: Floats
    age: Ints
    second: Floats
    target: Floats
    counts: samples.ItemCounts
    penalty: float
    keeps_samples: bool
    start_work: Floats
    gradient_work: Floats
    step_work: Floats
    trial_work: Floats
    other_work: Floats
    before_work: Floats
    hessian_work: Floats
    factor_work: Floats
    inverse_work: Floats
    product_block: Floats
    mean_block: Floats
    slope_block: Floats


@kernel
def clear(fit: Likelihood, g: int) -> None:
    """Make estimate ``g`` one without observations."""
    d = fit.weights.shape[1]
    for f in range(d):
        fit.weights[g, f] = 0.0
    if fit.curve.shape[0] > 0:
        for f in range(d):
            for h in range(d):
                fit.curve[g, f, h] = 0.0
            fit.curve[g, f, f] = 1.0 / fit.penalty
    if fit.second.shape[0] > 0:
        for f in range(d):
            for h in range(d):
                fit.second[g, f, h] = 0.0
            fit.target[g, f] = 0.0
    fit.age[g] = 0
    fit.counts.size[g] = 0


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
def _evaluate(fit: Likelihood, items: Floats, link: Any, theta: Floats, start: int, n: int) -> None:
    """Means and slopes at ``theta`` of ``n`` counted items from ``start`` on, into the block."""
    ids, z = fit.counts.ids, fit.product_block
    for j in range(n):
        z[j] = linear.inner(items[ids[start + j]], theta)
    links.evaluate(link, z, n, fit.mean_block, fit.slope_block)


@kernel
def gradient(fit: Likelihood, g: int, items: Floats, link: Any, theta: Floats, out: Floats) -> None:
    """Left side of the equation of estimate ``g`` at ``theta``."""
    d = theta.shape[0]
    for f in range(d):
        out[f] = fit.penalty * theta[f]
    ids, observations, clicks = fit.counts.ids, fit.counts.observations, fit.counts.clicks
    mean = fit.mean_block
    end = fit.counts.begin[g] + fit.counts.size[g]
    for start in range(fit.counts.begin[g], end, BLOCK):
        n = min(BLOCK, end - start)
        _evaluate(fit, items, link, theta, start, n)
        for j in range(n):
            mean[j] = observations[start + j] * mean[j] - clicks[start + j]
        add_rows(items, ids[start : start + n], mean, out)


@kernel
def curvature(fit: Likelihood, g: int, items: Floats, link: Any, out: Floats) -> None:
    """Second derivative of estimate ``g`` at its weights, without the penalty."""
    theta = fit.weights[g]
    d = theta.shape[0]
    for f in range(d):
        for h in range(d):
            out[f, h] = 0.0
    ids, observations = fit.counts.ids, fit.counts.observations
    slope = fit.slope_block
    end = fit.counts.begin[g] + fit.counts.size[g]
    for start in range(fit.counts.begin[g], end, BLOCK):
        n = min(BLOCK, end - start)
        _evaluate(fit, items, link, theta, start, n)
        for j in range(n):
            linear.add_outer(out, observations[start + j] * slope[j], items[ids[start + j]])


@kernel
def follow(fit: Likelihood, g: int, link: Any, x: Floats) -> None:
    """Update the kept inverse of estimate ``g`` by one more observation of ``x``."""
    if fit.curve.shape[0] == 0:
        return
    direction = fit.step_work
    linear.times(fit.curve[g], x, direction)
    _, slope = links.at(link, linear.inner(fit.weights[g], x))
    linear.add_outer(fit.curve[g], -slope / (1.0 + slope * linear.inner(x, direction)), direction)
    fit.age[g] += 1
