"""Prefetch of cache lines: with many users, memory latency dominates a round.

A cache miss takes about a tenth of a microsecond, and a processor serves many at once if they are
requested early.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clubcascade.kernels.jit import INTERPRETED, kernel

LINE = 64
"""Bytes of a cache line."""


@intrinsic
def _prefetch_line(context: Any, array: Any, byte: Any) -> Any:
    """Prefetch the cache line that holds this byte of an array (``llvm.prefetch``)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        pointer = builder.bitcast(data, cgutils.voidptr_t)
        word = ir.IntType(32)
        signature_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        prefetch = cgutils.get_or_insert_function(
            builder.module, signature_type, "llvm.prefetch.p0"
        )
        place = builder.gep(pointer, [arguments[1]])
        builder.call(prefetch, [place, word(0), word(3), word(1)])  # to read, keep it near, data
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


_prefetch_byte: Any = (lambda array, byte: None) if INTERPRETED else _prefetch_line
"""The same, as the compiler calls it: (array, byte); nothing when interpreted."""


@kernel
def prefetch_row(array: Any, row: int) -> None:
    """Prefetch a row (a number, a vector, a matrix) of a contiguous array."""
    size = array.strides[0]
    for byte in range(row * size, (row + 1) * size, LINE):
        _prefetch_byte(array, byte)
    _prefetch_byte(array, (row + 1) * size - 1)
