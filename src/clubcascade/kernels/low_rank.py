"""Sums over few observations, as observations again: S and b of rank r cost r, not d.

Cholesky with pivoting finds r observations (x, h), r the rank of S, that have the same sums

    S = sum of x x'        b = sum of h x,

however many there were.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def observations(gram: Floats, moment: Floats, most: int) -> tuple[bool, Floats, Floats]:
    """Return whether ``most`` observations have these sums; and them, x by rows, and h."""
    keep_whole()
    d, rank = moment.shape[0], 0
    x, h, left = np.empty((most, d)), np.empty(most), np.empty(d)
    for f in range(d):
        left[f] = gram[f, f]
    least = factors.least_pivot(gram)
    while True:
        top = 0
        for f in range(1, d):
            if left[f] > left[top]:
                top = f
        if left[top] <= least:
            return True, x[:rank], h[:rank]
        if not rank < most:
            return False, x[:0], h[:0]
        scale = 1.0 / math.sqrt(left[top])
        row, value = x[rank], moment[top]
        for f in range(d):
            row[f] = gram[top, f] + 0.0
        for i in range(rank):
            before, step = x[i], x[i, top]
            value -= step * h[i]
            for f in range(d):
                row[f] -= step * before[f]
        for f in range(d):
            row[f] *= scale
            left[f] -= row[f] * row[f]
        h[rank], left[top] = scale * value, 0.0
        rank += 1


@kernel
def products(x: Floats) -> Floats:
    """Return ``x x'``, its upper triangle."""
    keep_whole()
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            out[i, j] = linear.inner(x[i], x[j])
    return out


@kernel
def residuals(x: Floats, h: Floats, mean: Floats) -> Floats:
    """Return ``h - x . mean``."""
    out = np.empty(h.shape[0])
    for i in range(h.shape[0]):
        out[i] = h[i] - linear.inner(x[i], mean)
    return out
