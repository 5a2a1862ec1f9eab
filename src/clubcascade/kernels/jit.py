"""The one decorator of the kernels: compile, cache on disk, and never run a stale kernel.

Numba's cache knows a function by the file that holds it and does not see an edit in another file
that it calls. Here every cached function is stamped with a hash of all kernel sources instead. The
stamp is part of the version as well, which numba reads first: an index left behind by an earlier
release may name types that are gone, and must not even be unpickled.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numba
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


INTERPRETED = bool(getattr(numba.config, "DISABLE_JIT", 0))
"""With NUMBA_DISABLE_JIT=1 kernels are plain Python: a debugger and coverage see every line."""

SOURCES = _hash_of_sources()


def kernel(function: Function) -> Function:
    """Compile ``function`` at its first call; the next process finds it on disk."""
    compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = SOURCES
        cache_file._version = f"{numba.__version__} {SOURCES}"
    if hasattr(compiled, "get_call_template"):
        _forget_literals(compiled)
    return cast(Function, compiled)


def _forget_literals(compiled: Any) -> None:
    """Have one compiled version for ``f(x, 0)`` and ``f(x, i)``: each one takes its seconds.

    A variable that starts at a literal number is a literal to the compiler until it has seen the
    whole loop, and everything called with it would be compiled for that number as well.
    """
    template = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(
            tuple(types.unliteral(kind) for kind in args),
            {name: types.unliteral(kind) for name, kind in kws.items()},
        )

    compiled.get_call_template = get_call_template


class StructType(types.StructRef):
    """Type of a :class:`Struct`, for the compiler."""

    proxy: ClassVar[type[Struct]]

    def preprocess_fields(self, fields: Any) -> Any:
        """Forget literal values in the field types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class _Plain:
    """What a structure is without a compiler."""

    def __init__(self, *fields: Any) -> None:
        vars(self).update(zip(type(self).__annotations__, fields, strict=True))


class Struct(_Plain if INTERPRETED else structref.StructRefProxy):  # type: ignore[misc]
    """A compiled structure of arrays: one pointer at a call, whatever the number of fields.

    A subclass names its fields by annotations, in the order of the constructor.
    """


Proxy = TypeVar("Proxy", bound=type[Struct])


def struct(kind: type[StructType]) -> Callable[[Proxy], Proxy]:
    """Make a class of annotated fields the structure of that compiled type."""
    structref.register(kind)

    def register(proxy: Proxy) -> Proxy:
        kind.proxy = proxy
        if not INTERPRETED:
            structref.define_proxy(proxy, kind, list(proxy.__annotations__))
        return proxy

    return register


def stub(function: Function) -> Function:
    """Make a function that each kind of state answers with its own body: see :func:`answer`."""
    return cast(Function, functools.singledispatch(function)) if INTERPRETED else function


def answer(stub: Callable[..., Any], kind: type[StructType]) -> Callable[[Function], Function]:
    """Give ``stub`` its body for states of one kind (its first argument)."""

    def register(body: Function) -> Function:
        if INTERPRETED:
            stub.register(kind.proxy, body)  # type: ignore[attr-defined]
            return body

        def choose(*arguments: Any) -> Function | None:
            return body if isinstance(arguments[0], kind) else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        overload(stub)(choose)
        return body

    return register
