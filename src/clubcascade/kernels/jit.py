"""The one decorator of the kernels: compile, cache on disk, and never run a stale kernel.

Numba's cache knows a function by the file that holds it and does not see an edit in another file
that it calls. Here every cached function is stamped with a hash of all kernel sources instead.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.experimental import structref
from numba.extending import overload

Function = TypeVar("Function", bound=Callable[..., Any])


def _hash_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


SOURCES = _hash_of_sources()


def kernel(function: Function) -> Function:
    """Compile ``function`` at its first call; the next process finds it on disk."""
    compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = SOURCES
    return cast(Function, compiled)


class StructType(types.StructRef):
    """Type of a :class:`Struct`, for the compiler."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Forget literal values in the field types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class Struct(structref.StructRefProxy):
    """A compiled structure of arrays: one pointer at a call, whatever the number of fields.

    A subclass names its fields by annotations, in the order of the constructor.
    """


Proxy = TypeVar("Proxy", bound=type[Struct])


def struct(kind: type[StructType]) -> Callable[[Proxy], Proxy]:
    """Make a class of annotated fields the structure of that compiled type."""
    structref.register(kind)

    def register(proxy: Proxy) -> Proxy:
        structref.define_proxy(proxy, kind, list(proxy.__annotations__))
        return proxy

    return register


def answer(stub: Callable[..., Any], kind: type[StructType]) -> Callable[[Function], Function]:
    """Give ``stub`` its body for states of one kind (its first argument)."""

    def register(body: Function) -> Function:
        def choose(*arguments: Any) -> Function | None:
            return body if isinstance(arguments[0], kind) else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        overload(stub)(choose)
        return body

    return register
