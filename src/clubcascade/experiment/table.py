"""One table of an experiment file: known keys, right types, messages that say where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from clubcascade import validation
from clubcascade.errors import InvalidArgument, InvalidConfig


class Table:
    """A table of an experiment file whose keys are all known and, if required, all there.

    Parameters
    ----------
    content
        The table as it was read.
    where
        Path of the table in its file, such as ``panels[0]``; empty for the top.
    required, optional
        The keys that must and that may be there.

    Examples
    --------
    >>> Table({"rounds": 10}, "", required=["rounds"]).whole("rounds")
    10
    >>> Table({"sed": 10}, "quick", required=["seeds"])
    Traceback (most recent call last):
        ...
    clubcascade.errors.InvalidConfig: unknown key 'sed' in quick; did you mean 'seeds'? Known: seeds
    """

    def __init__(
        self,
        content: Any,
        where: str,
        *,
        required: Iterable[str],
        optional: Iterable[str] = (),
    ) -> None:
        if not isinstance(content, Mapping):
            raise InvalidConfig(f"{where} must be a table, got {content!r}")
        self.content = content
        self.where = where
        required = list(required)
        reject_unknown("key", content, [*required, *optional], where)
        for key in required:
            if key not in content:
                raise InvalidConfig(f"missing key {key!r} in {where or 'the experiment file'}")

    def path(self, key: str) -> str:
        """Give the full name of a key, for messages."""
        return f"{self.where}.{key}" if self.where else key

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def text(self, key: str) -> str:
        """Return a string that is not empty."""
        value = self.content[key]
        if not isinstance(value, str) or not value.strip():
            raise InvalidConfig(f"{self.path(key)} must be a string, not empty, got {value!r}")
        return value

    def whole(self, key: str) -> int:
        """Return a whole number of at least 1."""
        return _whole(self.path(key), self.content[key], low=1)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return strings, at least one, no two alike."""
        value, path = self.content[key], self.path(key)
        good = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        if not good or not value or len(set(value)) != len(value):
            raise InvalidConfig(f"{path} must be one or more distinct strings, got {value!r}")
        return tuple(value)

    def choice(self, key: str, known: Iterable[str]) -> str:
        """Return one of the known strings."""
        value = self.text(key)
        listed = list(known)
        if value not in listed:
            near = difflib.get_close_matches(value, listed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidConfig(
                f"{self.path(key)} must be one of {', '.join(listed)}, got {value!r}{hint}"
            )
        return value

    def seeds(self, key: str) -> tuple[int, ...]:
        """Return the seeds: a list of them, or how many (then they are 0, 1, 2, ...)."""
        value, path = self.content[key], self.path(key)
        if not isinstance(value, list):
            return tuple(range(_whole(path, value, low=1)))
        seeds = tuple(_whole(f"{path}[{i}]", seed, low=0) for i, seed in enumerate(value))
        if not seeds or len(set(seeds)) != len(seeds):
            raise InvalidConfig(f"{path} must be one or more distinct seeds, got {value!r}")
        return seeds

    def tables(self, key: str) -> list[tuple[str, Any]]:
        """Return the (path, content) pairs of an array of tables that is not empty."""
        value, path = self.content[key], self.path(key)
        if not isinstance(value, list) or not value:
            raise InvalidConfig(f"{path} must be one or more tables [[{path}]], got {value!r}")
        return [(f"{path}[{i}]", content) for i, content in enumerate(value)]


def reject_unknown(kind: str, names: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise for the first name that is not known, with the nearest known one."""
    listed = list(known)
    for name in names:
        if name not in listed:
            near = difflib.get_close_matches(str(name), listed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise InvalidConfig(
                f"unknown {kind} {name!r} in {where or 'the experiment file'}{hint} "
                f"Known: {', '.join(listed)}"
            )


def _whole(name: str, value: Any, *, low: int) -> int:
    try:
        return validation.whole(name, value, low=low)
    except InvalidArgument as error:
        raise InvalidConfig(str(error)) from None
