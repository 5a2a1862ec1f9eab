"""Combinations of four rows, added to other rows: the inner loop of factors and inverses.

Written as vector instructions. From a loop the compiler would make the same ones, but only after
checks, at every row, that no two of them overlap: for short rows these take longer than the sums,
and with four rows at a time there are more of them than it is willing to make.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clubcascade.core import Floats
from clubcascade.kernels.jit import INTERPRETED, kernel

LANES = 4
"""Numbers of a vector."""


@intrinsic
def _add_rows(
    context: Any, out: Any, r: Any, source: Any, c: Any, first: Any, last: Any, weights: Any
) -> Any:
    """Do what ``_add_rows_plainly`` does, for contiguous matrices."""
    n = len(weights) // 4
    assert out.layout == source.layout == "C", "rows must be contiguous"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, r, _, c, first, last, weights = arguments
        word, number = r.type, ir.DoubleType()
        vector = ir.VectorType(number, LANES)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        unknown = ir.Constant(vector, ir.Undefined)

        def rows(at: int, start: Any, count: int) -> list[Any]:
            array = context.make_array(signature.args[at])(context, builder, arguments[at])
            width = builder.extract_value(array.shape, 1)
            places = [builder.mul(width, builder.add(start, word(i))) for i in range(count)]
            return [builder.gep(array.data, [place]) for place in places]

        targets, sources = rows(0, r, n), rows(2, c, 4)
        scalars = [builder.extract_value(weights, i) for i in range(4 * n)]
        first_lane = [builder.insert_element(unknown, x, ir.IntType(32)(0)) for x in scalars]
        vectors = [builder.shuffle_vector(x, unknown, zeros) for x in first_lane]

        def add(g: Any, kind: Any, factors: list[Any]) -> None:
            def at(row: Any) -> Any:
                return builder.bitcast(builder.gep(row, [g]), kind.as_pointer())

            read = [builder.load(at(row), align=8) for row in sources]
            for i, target in enumerate(targets):
                terms = [builder.fmul(factors[4 * i + j], read[j]) for j in range(4)]
                total = builder.fadd(builder.fadd(terms[0], terms[1]), terms[2])
                total = builder.fadd(total, terms[3])
                place = at(target)
                builder.store(builder.fadd(builder.load(place, align=8), total), place, align=8)

        whole = builder.add(first, builder.and_(builder.sub(last, first), word(-LANES)))
        with cgutils.for_range_slice(builder, first, whole, word(LANES), word) as (g, _):
            add(g, vector, vectors)
        with cgutils.for_range_slice(builder, whole, last, word(1), word) as (g, _):
            add(g, number, scalars)
        return context.get_dummy_value()

    places = (types.intp, types.intp, types.intp)
    return types.none(out, types.intp, source, *places, weights), generate


def _add_rows_plainly(
    out: Floats,
    r: int,
    source: Floats,
    c: int,
    first: int,
    last: int,
    weights: tuple[float, ...],
) -> None:
    x0, x1, x2, x3 = source[c : c + 4, first:last]
    for i in range(len(weights) // 4):
        w0, w1, w2, w3 = weights[4 * i : 4 * i + 4]
        out[r + i, first:last] += ((w0 * x0 + w1 * x1) + w2 * x2) + w3 * x3


add_rows: Any = _add_rows_plainly if INTERPRETED else _add_rows
"""(out, r, source, c, first, last, weights): for each four weights w add ``w . source[c : c + 4]``
to a row of ``out``, from row r on, in the columns ``first`` to ``last``."""


@kernel
def add_four(
    out: Floats, r: int, source: Floats, c: int, first: int, last: int, by: Floats, sign: float
) -> None:
    """``out[r + i] += sign * sum of by[c + j, r + i] source[c + j]`` for four i and four j."""
    b0, b1, b2, b3 = by[c], by[c + 1], by[c + 2], by[c + 3]
    p, q, s = r + 1, r + 2, r + 3
    weights = (
        *(sign * b0[r], sign * b1[r], sign * b2[r], sign * b3[r]),
        *(sign * b0[p], sign * b1[p], sign * b2[p], sign * b3[p]),
        *(sign * b0[q], sign * b1[q], sign * b2[q], sign * b3[q]),
        *(sign * b0[s], sign * b1[s], sign * b2[s], sign * b3[s]),
    )
    add_rows(out, r, source, c, first, last, weights)


@kernel
def add_one(
    out: Floats, r: int, source: Floats, c: int, first: int, last: int, by: Floats, sign: float
) -> None:
    """Do the same for the one row ``r``."""
    weights = (sign * by[c, r], sign * by[c + 1, r], sign * by[c + 2, r], sign * by[c + 3, r])
    add_rows(out, r, source, c, first, last, weights)
