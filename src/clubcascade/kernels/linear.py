"""Linear algebra of ridge models: packed Gram matrices, rank-one steps, Cholesky.

A Gram matrix is symmetric and kept packed: its upper triangle row by row, d (d + 1) / 2 numbers.
The order of every sum is fixed (no reassociation), so that one item scored alone and the same
item scored among many get the same bits.
"""

from __future__ import annotations

import math

import numpy as np

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
def times(matrix: Floats, x: Floats, out: Floats) -> None:
    """``out = matrix @ x`` for a symmetric matrix, row by row of the sum."""
    d = x.shape[0]
    out[:] = 0.0
    for f in range(d):
        scale = x[f]
        row = matrix[f]
        for g in range(d):
            out[g] += scale * row[g]


@kernel
def pack(matrix: Floats, packed: Floats) -> None:
    """``packed =`` the upper triangle of a symmetric matrix, row by row."""
    d = matrix.shape[0]
    place = 0
    for f in range(d):
        row = matrix[f]
        for g in range(f, d):
            packed[place] = row[g]
            place += 1


@kernel
def unpack(packed: Floats, ridge: float, out: Floats) -> None:
    """``out =`` the full symmetric matrix, plus ``ridge`` on its diagonal."""
    d = out.shape[0]
    place = 0
    for f in range(d):
        for g in range(f, d):
            out[f, g] = packed[place]
            out[g, f] = packed[place]
            place += 1
        out[f, f] += ridge


@kernel
def factor(matrix: Floats) -> None:
    """Overwrite the upper triangle with R of ``matrix = R' R`` (Cholesky)."""
    d = matrix.shape[0]
    for c in range(d):
        pivot = matrix[c]
        scale = 1.0 / math.sqrt(pivot[c])
        for g in range(c, d):
            pivot[g] *= scale
        for r in range(c + 1, d):
            step = pivot[r]
            row = matrix[r]
            for g in range(r, d):
                row[g] -= step * pivot[g]


@kernel
def solve(upper: Floats, x: Floats) -> None:
    """Overwrite ``x`` with the solution of ``R' R z = x``."""
    d = x.shape[0]
    for c in range(d):
        x[c] /= upper[c, c]
        step = x[c]
        for g in range(c + 1, d):
            x[g] -= step * upper[c, g]
    for c in range(d - 1, -1, -1):
        total = x[c]
        for g in range(c + 1, d):
            total -= upper[c, g] * x[g]
        x[c] = total / upper[c, c]


@kernel
def ridge_weights(packed: Floats, moment: Floats, ridge: float, work: Floats, out: Floats) -> None:
    """``out = (ridge I + gram)^-1 moment``; ``work`` is d x d scratch."""
    unpack(packed, ridge, work)
    factor(work)
    out[:] = moment
    solve(work, out)


@kernel
def invert(packed: Floats, ridge: float, work: Floats, out: Floats) -> float:
    """``out = (ridge I + gram)^-1``; return the log-determinant of what was inverted."""
    d = out.shape[0]
    unpack(packed, ridge, work)
    factor(work)
    log_det = 0.0
    for c in range(d):
        log_det += 2.0 * math.log(work[c, c])
    column = np.empty(d)
    for c in range(d):
        column[:] = 0.0
        column[c] = 1.0
        solve(work, column)
        for r in range(d):
            out[r, c] = column[r]
    for r in range(d):
        for c in range(r + 1, d):
            out[r, c] = out[c, r]
    return log_det
