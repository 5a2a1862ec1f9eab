"""Ask for memory before it is needed: with many users, a round waits for memory above all.

A line that is not in a cache takes about a tenth of a microsecond to come, and a processor has
many on the way at once, if only it is told early which.
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
    """Ask for the cache line that holds this byte of an array; nothing waits for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        pointer = builder.bitcast(data, cgutils.voidptr_t)
        word = ir.IntType(32)
        wanted = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        ask = cgutils.get_or_insert_function(builder.module, wanted, "llvm.prefetch.p0")
        place = builder.gep(pointer, [arguments[1]])
        builder.call(ask, [place, word(0), word(3), word(1)])  # to read, keep it near, data
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


_prefetch_byte: Any = (lambda array, byte: None) if INTERPRETED else _prefetch_line
"""The same, as the compiler calls it: (array, byte)."""


@kernel
def prefetch_row(array: Any, row: int) -> None:
    """Ask for a row (a number, a vector, a matrix) of an array that is contiguous."""
    size = array.strides[0]
    for byte in range(row * size, (row + 1) * size, LINE):
        _prefetch_byte(array, byte)
    _prefetch_byte(array, (row + 1) * size - 1)
