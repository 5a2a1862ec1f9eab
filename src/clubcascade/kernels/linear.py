"""Linear algebra of ridge models: products, sums, rank-one steps.

The order of every sum is fixed (no reassociation), so that one item scored alone and the same
item scored among many get the same bits.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels.jit import kernel


@kernel
def dot(a: Floats, b: Floats) -> float:
    """Inner product, summed from the first entry to the last."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@kernel
def inner(a: Floats, b: Floats) -> float:
    """Inner product in four partial sums, for instruction-level parallelism."""
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
def square_distance(a: Floats, b: Floats) -> float:
    """Squared distance in four partial sums, for instruction-level parallelism."""
    d = a.shape[0]
    whole = d // 4 * 4
    s0 = s1 = s2 = s3 = 0.0
    for f in range(0, whole, 4):
        g0, g1, g2, g3 = a[f] - b[f], a[f + 1] - b[f + 1], a[f + 2] - b[f + 2], a[f + 3] - b[f + 3]
        s0 += g0 * g0
        s1 += g1 * g1
        s2 += g2 * g2
        s3 += g3 * g3
    for f in range(whole, d):
        gap = a[f] - b[f]
        s0 += gap * gap
    return (s0 + s1) + (s2 + s3)


@kernel
def times(matrix: Floats, x: Floats, out: Floats) -> None:
    """``out = matrix @ x`` for a symmetric matrix, four rows of the sum at a time."""
    d = x.shape[0]
    whole = d // 4 * 4
    for g in range(d):
        out[g] = 0.0
    for f in range(0, whole, 4):
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        row0, row1, row2, row3 = matrix[f], matrix[f + 1], matrix[f + 2], matrix[f + 3]
        for g in range(d):
            out[g] = (((out[g] + x0 * row0[g]) + x1 * row1[g]) + x2 * row2[g]) + x3 * row3[g]
    for f in range(whole, d):
        scale = x[f]
        row = matrix[f]
        for g in range(d):
            out[g] += scale * row[g]


@kernel
def add_outer(matrix: Floats, scale: float, x: Floats) -> None:
    """``matrix += scale x x'``."""
    d = x.shape[0]
    for f in range(d):
        step = scale * x[f]
        row = matrix[f]
        for g in range(d):
            row[g] += step * x[g]


@kernel
def add_both(gram: Floats, moment: Floats, sign: float, more: Floats, clicks: Floats) -> None:
    """``gram += sign more`` and ``moment += sign clicks``."""
    d = moment.shape[0]
    for f in range(d):
        row, source = gram[f], more[f]
        for g in range(d):
            row[g] += sign * source[g]
        moment[f] += sign * clicks[f]


@kernel
def add_ridge(gram: Floats, ridge: float, out: Floats) -> None:
    """``out = gram + ridge I``."""
    d = out.shape[0]
    for f in range(d):
        row, source = out[f], gram[f]
        for g in range(d):
            row[g] = source[g] + 0.0  # a plain copy would become a call for every short row
        row[f] += ridge
