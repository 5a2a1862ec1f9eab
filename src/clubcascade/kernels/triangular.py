"""Triangular systems with the Cholesky factor R of a matrix ``R' R``.

Each step depends on the one before; two systems side by side, or four partial sums, use the time.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels.jit import kernel


@kernel
def solve_half(upper: Floats, x: Floats) -> None:
    """Overwrite ``x`` with the solution of ``R' z = x``; ``z' z = x' (R' R)^-1 x``."""
    d = x.shape[0]
    for c in range(d):
        x[c] *= 1.0 / upper[c, c]  # the reciprocal does not depend on x, so it is ready early
        step = x[c]
        for g in range(c + 1, d):
            x[g] -= step * upper[c, g]


@kernel
def solve_half_each(upper: Floats, columns: Floats) -> None:
    """Do as ``solve_half`` for every column of a matrix."""
    d, n = columns.shape
    for c in range(d):
        row, scale = columns[c], 1.0 / upper[c, c]
        for j in range(n):
            row[j] *= scale
        for g in range(c + 1, d):
            other, step = columns[g], upper[c, g]
            for j in range(n):
                other[j] -= step * row[j]


@kernel
def solve_other_half(upper: Floats, x: Floats) -> None:
    """Overwrite ``x`` with the solution of ``R z = x``, in four partial sums."""
    d = x.shape[0]
    for c in range(d - 1, -1, -1):
        row = upper[c]
        s0, s1, s2, s3 = x[c], 0.0, 0.0, 0.0
        whole = d - (d - c - 1) % 4
        for g in range(c + 1, whole, 4):
            s0 -= row[g] * x[g]
            s1 -= row[g + 1] * x[g + 1]
            s2 -= row[g + 2] * x[g + 2]
            s3 -= row[g + 3] * x[g + 3]
        for g in range(whole, d):
            s0 -= row[g] * x[g]
        x[c] = ((s0 + s1) + (s2 + s3)) * (1.0 / row[c])


@kernel
def solve_half_two(upper: Floats, x: Floats, y: Floats) -> None:
    """Do as ``solve_half`` for two vectors, in little more time than for one."""
    d = x.shape[0]
    for c in range(d):
        row = upper[c]
        scale = 1.0 / row[c]
        x[c] *= scale
        y[c] *= scale
        a, b = x[c], y[c]
        for g in range(c + 1, d):
            x[g] -= a * row[g]
            y[g] -= b * row[g]


@kernel
def solve_other_half_two(upper: Floats, x: Floats, y: Floats) -> None:
    """Do as ``solve_other_half`` for two vectors."""
    d = x.shape[0]
    for c in range(d - 1, -1, -1):
        row = upper[c]
        s0, s1, s2, s3 = x[c], 0.0, 0.0, 0.0
        t0, t1, t2, t3 = y[c], 0.0, 0.0, 0.0
        whole = d - (d - c - 1) % 4
        for g in range(c + 1, whole, 4):
            r0, r1, r2, r3 = row[g], row[g + 1], row[g + 2], row[g + 3]
            s0 -= r0 * x[g]
            s1 -= r1 * x[g + 1]
            s2 -= r2 * x[g + 2]
            s3 -= r3 * x[g + 3]
            t0 -= r0 * y[g]
            t1 -= r1 * y[g + 1]
            t2 -= r2 * y[g + 2]
            t3 -= r3 * y[g + 3]
        for g in range(whole, d):
            s0 -= row[g] * x[g]
            t0 -= row[g] * y[g]
        scale = 1.0 / row[c]
        x[c] = ((s0 + s1) + (s2 + s3)) * scale
        y[c] = ((t0 + t1) + (t2 + t3)) * scale


@kernel
def solve(upper: Floats, x: Floats) -> None:
    """Overwrite ``x`` with the solution of ``R' R z = x``."""
    solve_half(upper, x)
    solve_other_half(upper, x)
