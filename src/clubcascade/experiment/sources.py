"""What code made a result: a hash of the modules that a run depends on.

A run depends on its policy, its environment, and what runs it, with everything that these import.
So an edit in one policy leaves the results of all others valid. Of a policy from another package
all modules of that package count, and all that they import of this one; of a policy from a script,
the script.
"""

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import Any

from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import InvalidConfig
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.policies import policy_class

_PACKAGE = "clubcascade"
_ROOT = Path(__file__).parents[1]
_ALWAYS = (
    "environments.tabular",
    "kernels.loop",
    "policies._compiled",
    "theory",
)
"""Modules that every run goes through."""
_ALWAYS_ALONE = (
    "experiment.placeholders",
    "experiment.running",
    "simulation",
    "simulation.agreement",
    "simulation.rounds",
    "simulation.run",
    "simulation.trace",
)
"""The same, but these import policies and data sets of others: what they import is not followed."""


@cache
def sources() -> str:
    """Return the hash of the whole package, for the records."""
    return _hash_of({_name(file): file for file in _ROOT.rglob("*.py")})


def sources_of(policy: str, environment: str) -> str:
    """Return the hash of all that a run of a policy (or bound) in an environment depends on."""
    kind: type = BOUNDS[policy] if policy in BOUNDS else policy_class(policy)
    world: type = ENVIRONMENTS[environment]
    return _sources_of(kind, world)


@cache
def _sources_of(policy: type, environment: type) -> str:
    outside = {name: file for kind in policy.__mro__ for name, file in _outside(kind).items()}
    modules = [kind.__module__ for kind in (policy, environment) if _top(kind) == _PACKAGE]
    for file in outside.values():
        modules += _imports(file) if file.suffix == ".py" else ()
    own = _closure([*modules, *(f"{_PACKAGE}.{name}" for name in _ALWAYS)])
    own |= {_file(f"{_PACKAGE}.{name}") for name in _ALWAYS_ALONE}
    return _hash_of({_name(file): file for file in own} | outside)


def _top(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _outside(kind: type) -> dict[str, Path]:
    """Return the files of the package of a class by name; none for this one and Python's own."""
    top = _top(kind)
    main = top in ("__main__", "__mp_main__")
    if top == _PACKAGE or (top in sys.stdlib_module_names and not main):
        return {}
    module: Any = sys.modules[top]
    found = {}
    for folder in map(Path, getattr(module, "__path__", ())):
        for file in folder.rglob("*"):
            if file.name.endswith((*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)):
                found[f"{top}/{file.relative_to(folder).as_posix()}"] = file
    if not found and getattr(module, "__file__", None) is not None:
        file = Path(module.__file__)
        found[file.name] = file
    if not found:
        raise InvalidConfig(
            f"policy must have a source file, by which its results are named and which workers "
            f"import, got {kind.__qualname__} of {kind.__module__}; write it to a module, and name "
            f"that by an entry point or import it in your script"
        )
    return found


def _name(file: Path) -> str:
    return file.relative_to(_ROOT).as_posix()


def _hash_of(files: dict[str, Path]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + files[name].read_bytes())
    return digest.hexdigest()[:16]


def _closure(modules: Iterable[str]) -> set[Path]:
    """Return the files of some modules and of all that they import of this package."""
    found: set[Path] = set()
    waiting = [_file(module) for module in modules]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [_file(module) for module in _imports(file)]
    return found


def _file(module: str) -> Path:
    """Return the file of a module of this package."""
    place = _ROOT.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """Return the modules of this package that a file imports."""
    return tuple(sorted(set(_imported(ast.parse(file.read_text(encoding="utf-8"))))))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == _PACKAGE)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _PACKAGE:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if _file(inner).is_file() else str(node.module)
