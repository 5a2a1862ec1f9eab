"""Users known beforehand."""

from collections.abc import Hashable, Iterable
from typing import Any

from clubcascade.errors import InvalidArgument
from clubcascade.learners.base import numbered
from clubcascade.model_file import check_ids


def read_users(users: Any) -> dict[Hashable, int]:
    """Return the users of an argument ``users``, numbered as they come; None means none.

    >>> read_users(["alice", 7])
    {'alice': 0, 7: 1}
    """
    if users is None:
        return {}
    if not isinstance(users, Iterable) or getattr(users, "ndim", 1) == 0:
        raise InvalidArgument(f"users must be a list of ids, got {users!r}")
    known = list(users)
    check_ids("users", known)
    return numbered(known)


def kept_users(users: Any, known: dict[Hashable, int]) -> Any:
    """Return an argument ``users`` as it is saved: a range as it is, another collection as a list.

    >>> kept_users(range(3), {0: 0, 1: 1, 2: 2}), kept_users("ab", {"a": 0, "b": 1})
    (range(0, 3), ['a', 'b'])
    """
    return users if isinstance(users, range) or users is None else list(known)
