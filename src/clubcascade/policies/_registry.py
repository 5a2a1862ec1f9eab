"""Policies by name: of this package, registered by hand, and of other packages."""

import inspect
import threading
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import metadata
from typing import Any

from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument

GROUP = "clubcascade.policies"
"""The group of entry points by which other packages name their policies."""


class Registry(Mapping[str, type[Policy]]):
    """Every policy by its name.

    An entry point is loaded when it is first asked for, not before: its package may be the one
    that is importing clubcascade. One that cannot be used is left out, with a warning.
    """

    def __init__(self, own: Mapping[str, type[Policy]]) -> None:
        self._known = dict(own)
        self._tried: set[str] = set()
        self._lock = threading.RLock()

    def add(self, kind: type[Policy]) -> None:
        """Add a policy under its own name; defined again in the same place, it is replaced."""
        _check_policy_class(kind)
        name = kind.registry_name()
        there = self._known.get(name)
        if there is not None and _place(there) != _place(kind):
            raise InvalidArgument(
                f"the name of a policy must be free, got {name!r} of {_place(kind)}, "
                f"which {_place(there)} has; give the class another name"
            )
        self._known[name] = kind

    @cached_property
    def _points(self) -> dict[str, list[metadata.EntryPoint]]:
        found: dict[str, list[metadata.EntryPoint]] = {}
        for point in metadata.entry_points(group=GROUP):
            found.setdefault(point.name, []).append(point)
        return found

    def _load(self, name: str) -> None:
        """Load the entry points of a name, once."""
        with self._lock:
            points = [] if name in self._tried else self._points.get(name, [])
            self._tried.add(name)
            for point in points:
                try:
                    kind = point.load()
                    _check_policy_class(kind)
                    if kind.registry_name() != name:
                        raise InvalidArgument(
                            f"the entry point of {kind.__name__} must be called "
                            f"{kind.registry_name()!r}, as model files name it, got {name!r}"
                        )
                    self.add(kind)
                except (Exception, SystemExit) as error:  # a script may exit as it is imported
                    package = "another package" if point.dist is None else point.dist.name
                    warnings.warn(
                        f"the policy {name!r} of {package} ({point.value}) is left out: "
                        f"{type(error).__name__}: {error}",
                        stacklevel=2,
                    )

    def __getitem__(self, name: str) -> type[Policy]:
        if name not in self._known:
            self._load(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        for name in self._points:
            self._load(name)
        return iter(dict(self._known))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {kind.__name__}' for name, kind in self.items())}}}"


def _check_policy_class(kind: Any) -> None:
    if not (inspect.isclass(kind) and issubclass(kind, Policy)):
        raise InvalidArgument(f"a policy must be a subclass of clubcascade.Policy, got {kind!r}")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise InvalidArgument(
            f"a policy must have every method, got {_place(kind)} without {missing}"
        )


def _place(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
