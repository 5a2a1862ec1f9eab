"""Names at the edge: users, items and models that can be written down and read again."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

from clubcascade import model_file
from clubcascade.errors import InvalidArgument

_MODEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LARGEST = 2**63


def model_name(name: Any) -> str:
    """Return a model's name: letters, digits and ``_-.``, as it stands in addresses."""
    if not isinstance(name, str) or not _MODEL.fullmatch(name) or set(name) <= {"."}:
        raise InvalidArgument(
            f"name must be 1 to 64 letters, digits, '_', '-' or '.', got {name!r}"
        )
    return name


def _kept(what: str, value: Any) -> Hashable:
    """Return an id that a store can keep: text without lone surrogates or NUL, an int, ..."""
    if type(value) is str:
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InvalidArgument(f"{what} must be text without NUL and surrogates, got {value!r}")
        return value
    if type(value) is int:
        if not -_LARGEST <= value < _LARGEST:
            raise InvalidArgument(f"{what} must be a whole number of 64 bits, got {value!r}")
        return value
    try:
        hash(value)
        kept = model_file.decode(model_file.encode(value))
    except TypeError:
        raise InvalidArgument(
            f"{what} must be hashable, such as a str or an int, got {type(value).__name__}"
        ) from None
    if isinstance(kept, bool | float | None):
        raise InvalidArgument(f"{what} must be a str or an int, got {value!r}")
    return kept  # type: ignore[no-any-return]


def user_id(user: Any) -> Hashable:
    """Return a user's id as a store keeps it.

    >>> user_id("alice"), user_id(7), user_id(("de", 7))
    ('alice', 7, ('de', 7))
    """
    return _kept("user", user)


def item_names(argument: str, ids: Iterable[Any]) -> tuple[Hashable, ...]:
    """Return the names of items, all different."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise InvalidArgument(f"{argument} must be a list of ids, got {ids!r}")
    if isinstance(ids, range):
        return tuple(ids)
    names = tuple(_kept(argument, name) for name in ids)
    if len(set(names)) != len(names):
        raise InvalidArgument(f"{argument} must be distinct, got a name twice")
    return names


def request_name(request_id: Any) -> str:
    """Return a request id that can be kept."""
    if not isinstance(request_id, str) or not 1 <= len(request_id) <= 200:
        raise InvalidArgument(
            f"request_id must be a str of 1 to 200 characters, got {request_id!r}"
        )
    return str(_kept("request_id", request_id))
