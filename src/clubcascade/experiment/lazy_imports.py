"""Packages whose public names are imported at first use, so that a short command starts quickly."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from clubcascade.errors import MissingExtra

EXTRA = 'pip install "clubcascade[experiments]"'
"""What installs the optional dependencies of these packages."""


def lazy_attributes(package: str, public: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: a name is imported from the module given for it."""
    modules = {name: module for module, names in public.items() for name in names}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{modules[name]}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("clubcascade"):
                raise
            raise MissingExtra(f"{package} needs {error.name}: {EXTRA}") from error
        return getattr(module, name)

    return get
