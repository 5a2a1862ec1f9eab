"""Rooms whose public names are imported at first use, so that a short command starts quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from clubcascade.errors import MissingExtra

EXTRA = 'pip install "clubcascade[experiments]"'
"""What installs the optional dependencies of these rooms."""


def doors(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Give the ``__getattr__`` of a package: a public name comes from the file that defines it.

    Parameters
    ----------
    package
        Full name of the package.
    homes
        The file (module name below the package) of each public name.

    Examples
    --------
    >>> getter = doors("clubcascade.experiment", {"doors": "lazy"})
    >>> getter("doors") is doors
    True
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{homes[name]}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("clubcascade"):
                raise
            raise MissingExtra(f"{package} needs {error.name}: {EXTRA}") from error
        return getattr(module, name)

    return get
