"""One normal prior over the users' weights, learned by EM, and Thompson sampling under it.

The model, with user i, mean mu, covariance Sigma and noise variance s2:

    mu ~ N(0, I),   w_i ~ N(mu, Sigma),   y = w_i . x + N(0, s2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import counter_rng, factors, linear, ranking, triangular
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)

NOISE_VARIANCE = 0.25
"""Variance of a click before anything is known: that of a fair coin."""
NOISE_COUNT = 10
"""How many observations that is worth."""


@struct
class Hierarchical(Struct):
    """Sums per user, and the parameters of the prior.

    Per user: ``gram`` (S), ``moment`` (b), ``square`` (sum of y^2) and ``count``. ``precision`` is
    the inverse of Sigma, ``mean_factor`` the Cholesky factor R of the posterior precision of mu.
    An EM step is due at ``next_step`` of ``n_observations``. ``n_drawn`` counts the draws; ``key``
    is the key of their random numbers.
    """

    gram: Floats
    moment: Floats
    square: Floats
    count: Ints
    mean: Floats
    mean_factor: Floats
    precision: Floats
    noise_variance: float
    n_users: int
    n_observations: int
    next_step: int
    n_drawn: int
    key: np.uint64


@kernel
def posterior(state: Hierarchical, user: int, mean: Floats, upper: Floats, out: Floats) -> None:
    """Mean of a user's weights to ``out``, given a mean of all; the factor of P to ``upper``.

    P = S / s2 + Sigma^-1,   out = P^-1 (b / s2 + Sigma^-1 mean).
    """
    linear.times(state.precision, mean, out)
    for f in range(out.shape[0]):
        out[f] += state.moment[user, f] / state.noise_variance
        for g in range(out.shape[0]):
            upper[f, g] = state.gram[user, f, g] / state.noise_variance + state.precision[f, g]
    factors.factor(upper)
    triangular.solve(upper, out)


@kernel
def expected(state: Hierarchical, user: int) -> Floats:
    """Return the posterior mean of a user's weights."""
    d = state.mean.shape[0]
    out = np.empty(d)
    posterior(state, user, state.mean, np.empty((d, d)), out)
    return out


@kernel
def draw(state: Hierarchical, user: int) -> Floats:
    """Draw the mean of all, then the user's weights given that mean."""
    d = state.mean.shape[0]
    mean, noise, out, upper = np.empty(d), np.empty(d), np.empty(d), np.empty((d, d))
    for f in range(d):
        mean[f] = counter_rng.normal(state.key, state.n_drawn, f)
        noise[f] = counter_rng.normal(state.key, state.n_drawn, d + f)
    triangular.solve_other_half(state.mean_factor, mean)
    for f in range(d):
        mean[f] += state.mean[f]
    posterior(state, user, mean, upper, out)
    triangular.solve_other_half(upper, noise)
    for f in range(d):
        out[f] += noise[f]
    state.n_drawn += 1
    return out


@kernel
def _estimate_mean(state: Hierarchical) -> None:
    """Mean of all by generalised least squares, and the factor of its posterior precision.

    With C = P^-1 and L = Sigma^-1, a user adds L - L C L to the precision, L C b / s2 to the sum.
    """
    d = state.mean.shape[0]
    upper, inverse, product = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    total, own, part, zero = np.zeros(d), np.empty(d), np.empty(d), np.zeros(d)
    precision = np.eye(d)
    for user in range(state.n_users):
        if state.count[user] == 0:
            continue
        posterior(state, user, zero, upper, own)
        linear.times(state.precision, own, part)
        for f in range(d):
            total[f] += part[f]
        factors.invert_factor(upper, upper, inverse)
        for f in range(d):  # rows of L C
            linear.times(inverse, state.precision[f], product[f])
        for f in range(d):
            linear.times(state.precision, product[f], part)
            for g in range(d):
                precision[f, g] += state.precision[f, g] - part[g]
    factors.factor(precision)
    state.mean_factor[:] = precision
    triangular.solve(state.mean_factor, total)
    state.mean[:] = total


@kernel
def _estimate_spread(state: Hierarchical) -> None:
    """Covariance of users around the mean, and the noise variance, under the new mean.

    What was assumed before anything was known, I / d and 1/4, counts as one user and as
    ``NOISE_COUNT`` observations.
    """
    d = state.mean.shape[0]
    upper, inverse, own, part = np.empty((d, d)), np.empty((d, d)), np.empty(d), np.empty(d)
    spread = np.eye(d) / d
    error = NOISE_COUNT * NOISE_VARIANCE
    n_users = 0
    for user in range(state.n_users):
        if state.count[user] == 0:
            continue
        n_users += 1
        posterior(state, user, state.mean, upper, own)
        factors.invert_factor(upper, upper, inverse)
        linear.times(state.gram[user], own, part)
        error += state.square[user] - 2.0 * linear.dot(own, state.moment[user])
        error += linear.dot(own, part)
        for f in range(d):
            error += linear.dot(state.gram[user, f], inverse[f])
            for g in range(d):
                around = (own[f] - state.mean[f]) * (own[g] - state.mean[g])
                spread[f, g] += inverse[f, g] + around
    for f in range(d):
        for g in range(d):
            spread[f, g] /= 1 + n_users
    state.noise_variance = error / (NOISE_COUNT + state.n_observations)
    factors.invert(spread, 0.0, upper, inverse)
    state.precision[:] = inverse


@implements(rank_catalog, Hierarchical)
def _rank_catalog(state: Any, node: Any, index: Any, rows: Any, scores: Any) -> None:
    every = np.arange(index.shape[0])
    ranking.rank_means(draw(state, node), index, every, rows, scores)


@implements(rank_items, Hierarchical)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    ranking.rank_means(draw(state, node), features, offered, rows, scores)


@implements(expect_click, Hierarchical)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(expected(state, node), features[row])


@implements(learn, Hierarchical)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    for p in range(examined):
        x, y = features[rows[p]], rewards[p]
        linear.add_outer(state.gram[node], 1.0, x)
        for f in range(x.shape[0]):
            state.moment[node, f] += y * x[f]
        state.square[node] += y * y
    state.count[node] += examined
    state.n_observations += examined
    if state.n_observations >= state.next_step:
        _estimate_mean(state)
        _estimate_spread(state)
        state.next_step = state.n_observations + 1 + state.n_observations // 10


@implements(count_clusters, Hierarchical)
def _count_clusters(state: Any) -> Any:
    return 1
