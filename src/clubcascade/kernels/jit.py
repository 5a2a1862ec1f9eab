"""The one decorator of the kernels: compile, cache on disk, and never run a stale kernel.

Numba's cache knows a function by the file that holds it and does not see an edit in another file
that it calls. Here every cached function is stamped with a hash of all kernel sources instead. The
stamp is part of the version as well, which numba reads first: an index left behind by an earlier
release may name types that are gone, and must not even be unpickled.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import inspect
import sys
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, cast

import numba
from numba import njit, types
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering
from numba.experimental import structref
from numba.extending import intrinsic, overload

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
        cache_file._data_name_pattern = _DataNames(Path(cache_file._index_path))
    if hasattr(compiled, "get_call_template"):
        _serve_kernels(compiled)
    return cast(Function, compiled)


class _DataNames:
    """Names of the files of compiled code: no two are alike, and those of other sources go.

    Numba counts them, and writes the index before the file. Two processes that compile one kernel
    for two kinds of state would take the same number, and the index of one name the code of the
    other; a process killed in between would leave an index that names the code of an old kernel.
    """

    def __init__(self, index: Path) -> None:
        self._index = index

    def format(self, number: int) -> str:
        stem, stamp = self._index.stem, SOURCES[:16]
        for file in self._index.parent.glob(f"{glob.escape(stem)}.*.nbc"):
            if f".{stamp}." not in file.name:
                file.unlink(missing_ok=True)
        return f"{stem}.{stamp}.{uuid.uuid4().hex}.nbc"


@register_pass(mutates_CFG=False, analysis_only=False)
class _Register(LoweringPass):
    """Have a kernel found by the kernels that call it, without machine code of its own."""

    _name = "register_inner_kernel"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        key: Any = [].append  # numba wants a built-in function; each of these is another one
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        state.library._optimize_final_module = lambda: None
        return True


class _Inner(Compiler):
    """Compile a kernel that kernels call to LLVM's code and no further.

    Whoever is called from Python takes all that it calls into one module, which LLVM optimises and
    translates as a whole. Doing the same for each kernel on the way, and for those above it again,
    takes most of the time and is thrown away.
    """

    def define_pipelines(self) -> Any:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        (passes,) = super().define_pipelines()
        passes.add_pass_after(_Register, NativeLowering)
        passes.finalize()
        return [passes]


@intrinsic
def _keep_whole(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


keep_whole: Any = (lambda: None) if INTERPRETED else _keep_whole
"""Called inside a large kernel, has it compiled as one function, which its callers call: a copy in
each of them, and in all that call those, takes seconds to compile and saves nothing."""


def _serve_kernels(compiled: Any) -> None:
    """Have kernels that call this one take its inner form, one for ``f(x, 0)`` and ``f(x, i)``.

    A variable that starts at a literal number is a literal to the compiler until it has seen the
    whole loop, and everything called with it would be compiled for that number as well.
    """
    inner = njit(nogil=True, error_model="numpy", pipeline_class=_Inner)(compiled.py_func)

    def get_call_template(args: Any, kws: Any) -> Any:
        return inner.get_call_template(
            tuple(types.unliteral(kind) for kind in args),
            {name: types.unliteral(kind) for name, kind in kws.items()},
        )

    compiled.get_call_template = get_call_template
    compiled.get_overload = inner.get_overload
    compiled.inner = inner


class StructType(types.StructRef):
    """Type of a :class:`Struct`, for the compiler."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Forget literal values in the field types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class _Plain:
    """A structure without a compiler."""

    def __init__(self, *fields: Any) -> None:
        vars(self).update(zip(type(self).__annotations__, fields, strict=True))


class Struct(_Plain if INTERPRETED else structref.StructRefProxy):  # type: ignore[misc]
    """A compiled structure: one pointer at a call, whatever the number of fields.

    A subclass names its fields by annotations and is decorated with :func:`struct`. Fields of type
    ``float``, ``int`` and ``bool`` are scalars, which Python reads and writes as attributes; arrays
    are shared with whoever passed them to :meth:`make`.
    """

    compiled_type: ClassVar[type[StructType]]
    _fields: ClassVar[tuple[str, ...]]
    _scalars: ClassVar[tuple[str, ...]]
    _make: ClassVar[Callable[..., Any]]
    _read: ClassVar[Callable[..., Any]]
    _write: ClassVar[Callable[..., Any]]

    @classmethod
    def make(cls, **fields: Any) -> Self:
        """Bind fields, all by name, into one structure that the kernels take."""
        return cast(Self, cls._make(*(fields[name] for name in cls._fields)))

    def scalars(self) -> dict[str, Any]:
        """Return the values of the scalar fields."""
        return dict(zip(self._scalars, type(self)._read(self), strict=True))

    def assign(self, **values: Any) -> None:
        """Change scalar fields."""
        merged = self.scalars()
        type(self)._write(self, *(type(old)(values.get(name, old)) for name, old in merged.items()))


Structure = TypeVar("Structure", bound=type[Struct])


def struct(cls: Structure) -> Structure:
    """Make a class of annotated fields a compiled structure: its type, constructor and scalars."""
    module, name = sys.modules[cls.__module__], cls.__name__
    kind = type(f"{name}Type", (StructType,), {"__module__": cls.__module__})
    setattr(module, kind.__name__, kind)  # the cache on disk finds the type by this name
    structref.register(kind)
    fields = tuple(cls.__annotations__)
    cls.compiled_type, cls._fields = kind, fields
    cls._scalars = tuple(f for f in fields if cls.__annotations__[f] in ("float", "int", "bool"))
    if not INTERPRETED:
        structref.define_proxy(cls, kind, list(fields))

    def generate(what: str, arguments: Iterable[str], body: Iterable[str]) -> Any:
        lines = [f"def _{what}_{name}({', '.join(arguments)}):", *(f"    {line}" for line in body)]
        space = {**module.__dict__, name: cls}
        exec(compile("\n".join(lines), str(module.__file__), "exec"), space)
        return kernel(space[f"_{what}_{name}"])

    cls._make = generate("make", fields, [f"return {name}({', '.join(fields)})"])
    if cls._scalars:
        read = ", ".join(f"state.{field}" for field in cls._scalars)
        cls._read = generate("read", ["state"], [f"return ({read},)"])
        writes = [f"state.{field} = {field}" for field in cls._scalars]
        cls._write = generate("write", ["state", *cls._scalars], writes)
    if not INTERPRETED:
        for field in cls._scalars:
            setattr(cls, field, _scalar(field))
    return cls


def _scalar(field: str) -> property:
    return property(
        lambda self: self.scalars()[field], lambda self, value: self.assign(**{field: value})
    )


def entry_point(function: Function) -> Function:
    """Make a function that each kind of state answers with its own body: see :func:`implements`."""
    return cast(Function, functools.singledispatch(function)) if INTERPRETED else function


_IMPLEMENTED: dict[Any, tuple[Any, ...]] = {}
"""Kinds of state that have a body of their own, by entry point."""


def implements(entry: Callable[..., Any], state: type[Struct]) -> Callable[[Function], Function]:
    """Give an entry point of the protocol its body for one kind of state (its first argument)."""
    kind = state.compiled_type
    _IMPLEMENTED[entry] = (*_IMPLEMENTED.get(entry, ()), kind)
    return _body(entry, state, lambda given: isinstance(given, kind))


def by_default(entry: Callable[..., Any]) -> Callable[[Function], Function]:
    """Give an entry point its body for all kinds of state that have none of their own."""
    return _body(entry, Struct, lambda given: not isinstance(given, _IMPLEMENTED.get(entry, ())))


def _body(
    entry: Callable[..., Any], state: type[Struct], fits: Callable[[Any], bool]
) -> Callable[[Function], Function]:
    def register(body: Function) -> Function:
        if INTERPRETED:
            entry.register(state, body)  # type: ignore[attr-defined]
            return body

        def choose(*arguments: Any) -> Function | None:
            return body if fits(arguments[0]) else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        options: Any = {"pipeline_class": _Inner}
        overload(entry, jit_options=options)(choose)
        return body

    return register
