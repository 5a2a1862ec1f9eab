"""Online Newton steps: estimates that keep no samples, in constant time and memory per round.

With ``H`` the second derivative gathered so far, a sample (x, y) of loss ``l`` moves the weights to

    argmin over theta of |theta - last|^2_H / 2 + l(theta . x),

an implicit online Newton (mirror descent) step; only its size along ``H^-1 x`` is to be found, so
it is one equation in one unknown. Then ``H`` grows by the sample's second derivative at the new
weights. This is the estimator of Faury, Abeille, Jun and Calauzenes, "Jointly efficient and optimal
algorithms for logistic bandits", AISTATS 2022, with learning rate 1 and without its projection; and
of Zhang and Sugiyama, "Online (multinomial) logistic bandit: improved regret and constant
computation cost", NeurIPS 2023, who replace the loss by its parabola at the last weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, links
from clubcascade.kernels.jit import kernel
from clubcascade.kernels.likelihood import Likelihood


@kernel
def implicit_error(link: Any, z: float, width: float, y: float) -> float:
    """Solve ``error = y - mu(z + width error)``: the residual after learning the sample.

    Newton steps, and bisection where they would not halve the last step.
    """
    mean, slope = links.at(link, z)
    error = y - mean
    low, high = min(error, 0.0), max(error, 0.0)
    error /= 1.0 + slope * width
    last = high - low
    for _ in range(100):
        mean, slope = links.at(link, z + width * error)
        excess = error - y + mean
        if excess > 0.0:
            high = error
        else:
            low = error
        step = -excess / (1.0 + slope * width)
        if not (low <= error + step <= high and abs(step) <= 0.5 * last):
            step = 0.5 * (low + high) - error
        if error + step == error or abs(step) <= 1e-16:
            return error
        error += step
        last = abs(step)
    return error


@kernel
def newton_step(fit: Likelihood, g: int, link: Any, x: Floats, y: float) -> None:
    """Take one implicit Newton step for a sample (x, y).

    Its loss is then replaced by its quadratic expansion at the new weights, so that losses of
    different users can be added.
    """
    d = x.shape[0]
    kept = fit.curve.shape[0] > 0
    curve = fit.curve[g] if kept else fit.inverse_work
    if not kept:
        factors.invert(fit.second[g], fit.penalty, fit.factor_work, curve)
    direction, theta = fit.start_work, fit.weights[g]
    linear.times(curve, x, direction)
    width = linear.inner(x, direction)
    if not width > 0.0:
        return
    z = linear.inner(theta, x)
    error = implicit_error(link, z, width, y)
    z += width * error
    _, slope = links.at(link, z)
    target = fit.target[g]
    for f in range(d):
        theta[f] += error * direction[f]
        target[f] += (slope * z + error) * x[f]
    linear.add_outer(fit.second[g], slope, x)
    if kept:
        linear.add_outer(curve, -slope / (1.0 + slope * width), direction)
    fit.age[g] += 1


@kernel
def solve_weights(fit: Likelihood, g: int) -> None:
    """Compute the weights of an estimate from its quadratic loss."""
    kept = fit.curve.shape[0] > 0
    curve = fit.curve[g] if kept else fit.inverse_work
    factors.invert(fit.second[g], fit.penalty, fit.factor_work, curve)
    linear.times(curve, fit.target[g], fit.weights[g])
    fit.age[g] = 0


@kernel
def sum_statistics(source: Likelihood, which: Any, fit: Likelihood, g: int) -> None:
    """Make the loss of estimate ``g`` the sum of those of estimates ``which`` of ``source``."""
    d = fit.weights.shape[1]
    second, target = np.zeros((d, d)), np.zeros(d)
    for w in range(which.shape[0]):
        for f in range(d):
            target[f] += source.target[which[w], f]
            for h in range(d):
                second[f, h] += source.second[which[w], f, h]
    for f in range(d):
        fit.target[g, f] = target[f]
        for h in range(d):
            fit.second[g, f, h] = second[f, h]
