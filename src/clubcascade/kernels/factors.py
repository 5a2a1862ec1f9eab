"""Cholesky factors and inverses of symmetric matrices.

Four rows at a time (``row_sums``), and all loops along rows.
"""

from __future__ import annotations

import math

from clubcascade.core import Floats
from clubcascade.kernels import linear, row_sums
from clubcascade.kernels.jit import keep_whole, kernel

ROUNDING = 4.5e-16
"""Rounding error of a pivot, in units of d times the largest entry of the diagonal."""


@kernel
def least_pivot(matrix: Floats) -> float:
    """Return the least pivot above rounding error, of d rows of at least d columns.

    A smaller pivot is replaced by it: that factors a matrix which differs by rounding from the one
    given, and takes no square root of a negative number.
    """
    d = matrix.shape[0]
    largest = 0.0
    for c in range(d):
        largest = max(largest, matrix[c, c])
    return ROUNDING * d * largest


@kernel
def _lift(row: Floats, c: int, pivot: float, least: float) -> float:
    """Return the pivot, at least ``least``; the diagonal grows by the difference."""
    if pivot < least:
        row[c] += least - pivot
        return least
    return pivot


@kernel
def _factor_corner(matrix: Floats, c: int, least: float) -> None:
    """Factor the rows ``c`` to ``c + 3`` of a matrix, the four columns with them first."""
    d = matrix.shape[0]
    one, two, three, four = matrix[c], matrix[c + 1], matrix[c + 2], matrix[c + 3]
    s1 = 1.0 / math.sqrt(_lift(one, c, one[c], least))
    a2, a3, a4 = s1 * one[c + 1], s1 * one[c + 2], s1 * one[c + 3]
    s2 = 1.0 / math.sqrt(_lift(two, c + 1, two[c + 1] - a2 * a2, least))
    b3, b4 = s2 * (two[c + 2] - a2 * a3), s2 * (two[c + 3] - a2 * a4)
    pivot = three[c + 2] - a3 * a3 - b3 * b3
    s3 = 1.0 / math.sqrt(_lift(three, c + 2, pivot, least))
    c4 = s3 * (three[c + 3] - a3 * a4 - b3 * b4)
    pivot = four[c + 3] - a4 * a4 - b4 * b4 - c4 * c4
    s4 = 1.0 / math.sqrt(_lift(four, c + 3, pivot, least))
    for g in range(c, d):
        x = s1 * one[g]
        y = s2 * (two[g] - a2 * x)
        z = s3 * (three[g] - a3 * x - b3 * y)
        one[g], two[g], three[g] = x, y, z
        four[g] = s4 * (four[g] - a4 * x - b4 * y - c4 * z)


@kernel
def factor(matrix: Floats) -> None:
    """Overwrite the upper triangle with R of ``matrix = R' R`` (Cholesky).

    The lower triangle is left undefined. Four rows at a time: the rest of the matrix is then read
    and written a quarter as often.
    """
    keep_whole()
    d = matrix.shape[0]
    whole = d // 4 * 4
    least = least_pivot(matrix)
    for c in range(0, whole, 4):
        _factor_corner(matrix, c, least)
        for r in range(c + 4, whole, 4):
            row_sums.add_four(matrix, r, matrix, c, r, d, matrix, -1.0)
        for r in range(whole, d):
            row_sums.add_one(matrix, r, matrix, c, whole, d, matrix, -1.0)
    for c in range(whole, d):
        pivot = matrix[c]
        scale = 1.0 / math.sqrt(_lift(pivot, c, pivot[c], least))
        for g in range(c, d):
            pivot[g] *= scale
        for r in range(c + 1, d):
            step = pivot[r]
            row = matrix[r]
            for g in range(r, d):
                row[g] -= step * pivot[g]


@kernel
def ridge_weights(gram: Floats, moment: Floats, ridge: float, work: Floats, out: Floats) -> None:
    """``out = (ridge I + gram)^-1 moment`` by elimination.

    ``work`` is scratch of d rows, at least d + 1 long and zero beyond: the moment is the last
    column, rows are updated at full width (vector loops without a remainder), and two columns are
    eliminated at a time.
    """
    d = moment.shape[0]
    width = work.shape[1]
    for f in range(d):
        row, source = work[f], gram[f]
        for g in range(d):
            row[g] = source[g]
        row[f] += ridge
        row[d] = moment[f]
    least = least_pivot(work)
    for c in range(0, d - 1, 2):
        one, two = work[c], work[c + 1]
        scale = 1.0 / _lift(one, c, one[c], least)
        step = one[c + 1] * scale
        for g in range(width):
            two[g] -= step * one[g]
        other = 1.0 / _lift(two, c + 1, two[c + 1], least)
        for r in range(c + 2, d):
            row = work[r]
            p, q = one[r] * scale, two[r] * other
            for g in range(width):
                row[g] -= p * one[g] + q * two[g]
    for c in range(d - 1, -1, -1):
        row = work[c]
        even, odd = row[d], 0.0
        _lift(row, c, row[c], least)
        whole = c + 1 + (d - c - 1) // 2 * 2
        for g in range(c + 1, whole, 2):
            even -= row[g] * out[g]
            odd -= row[g + 1] * out[g + 1]
        if whole < d:
            even -= row[whole] * out[whole]
        out[c] = (even + odd) / row[c]


@kernel
def _solve_corner(upper: Floats, c: int, out: Floats) -> None:
    """Solve the four rows from ``c`` on of ``R' Y = I``; those before them are subtracted."""
    one, two, three, four = out[c], out[c + 1], out[c + 2], out[c + 3]
    r1, r2, r3 = upper[c], upper[c + 1], upper[c + 2]
    s1, s2, s3, s4 = 1.0 / r1[c], 1.0 / r2[c + 1], 1.0 / r3[c + 2], 1.0 / upper[c + 3, c + 3]
    a2, a3, a4 = r1[c + 1], r1[c + 2], r1[c + 3]
    b3, b4, c4 = r2[c + 2], r2[c + 3], r3[c + 3]
    for g in range(c + 4):
        x = s1 * one[g]
        y = s2 * (two[g] - a2 * x)
        z = s3 * (three[g] - a3 * x - b3 * y)
        one[g], two[g], three[g] = x, y, z
        four[g] = s4 * (four[g] - a4 * x - b4 * y - c4 * z)


@kernel
def invert_factor(factor: Floats, work: Floats, out: Floats) -> None:
    """``out = (R' R)^-1`` from the factor R; ``work`` is scratch, and may be R itself.

    By the lower triangle Y of ``R' Y = I``, then ``Y' Y``.
    """
    keep_whole()
    d = out.shape[0]
    whole = d // 4 * 4
    for r in range(d):
        row = out[r]
        for g in range(d):
            row[g] = 0.0
        row[r] = 1.0
    for c in range(0, whole, 4):
        _solve_corner(factor, c, out)
        for r in range(c + 4, whole, 4):
            row_sums.add_four(out, r, out, c, 0, c + 4, factor, -1.0)
        for r in range(whole, d):
            row_sums.add_one(out, r, out, c, 0, c + 4, factor, -1.0)
    for c in range(whole, d):
        pivot, scale = out[c], 1.0 / factor[c, c]
        for g in range(c + 1):
            pivot[g] *= scale
        for r in range(c + 1, d):
            row, step = out[r], factor[c, r]
            for g in range(c + 1):
                row[g] -= step * pivot[g]
    for r in range(d):
        row = work[r]
        for g in range(r + 4 if r + 4 < d else d):
            row[g] = 0.0
    for r in range(0, whole, 4):
        for c in range(r, whole, 4):
            row_sums.add_four(work, r, out, c, 0, r + 4, out, 1.0)
    for c in range(whole, d):
        pivot = out[c]
        for r in range(c + 1):
            row, step = work[r], pivot[r]
            for g in range(r + 1):
                row[g] += step * pivot[g]
    for r in range(d):
        row = work[r]
        for g in range(r + 1):
            out[r, g] = row[g]
            out[g, r] = row[g]


@kernel
def invert(gram: Floats, ridge: float, work: Floats, out: Floats) -> float:
    """``out = (ridge I + gram)^-1``; return the log-determinant of what was inverted."""
    linear.add_ridge(gram, ridge, work)
    factor(work)
    log_det = 0.0
    for c in range(out.shape[0]):
        log_det += 2.0 * math.log(work[c, c])
    invert_factor(work, work, out)
    return log_det
