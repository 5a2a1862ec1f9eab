"""What code made a result: a hash of the modules that a run depends on.

A run depends on its policy, its environment, and what runs it, with everything that these import.
So an edit in one policy leaves the results of all others valid.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from clubcascade.environments import ENVIRONMENTS
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.policies import POLICIES

_PACKAGE = "clubcascade"
_ROOT = Path(__file__).parents[1]
_ALWAYS = (
    "environments.table",
    "experiment.ceiling",
    "kernels.play",
    "policies._compiled",
    "theory",
)
"""Modules that every run goes through."""
_ALWAYS_ALONE = (
    "experiment.named",
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
    """Return the hash of the whole package, for the records.

    >>> len(sources())
    16
    """
    return _hash_of(sorted(_ROOT.rglob("*.py")))


@cache
def sources_of(policy: str, environment: str) -> str:
    """Return the hash of all that a run of a policy (or bound) in an environment depends on.

    >>> sources_of("c3_ucb", "synthetic") == sources_of("c3_ucb", "pool")
    False
    """
    classes: dict[str, type] = {**POLICIES, **BOUNDS}
    roots = [classes[policy].__module__, ENVIRONMENTS[environment].__module__]
    files = _closure([*roots, *(f"{_PACKAGE}.{name}" for name in _ALWAYS)])
    files |= {_file(f"{_PACKAGE}.{name}") for name in _ALWAYS_ALONE}
    return _hash_of(sorted(files))


def _hash_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(_ROOT).as_posix().encode() + file.read_bytes())
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
