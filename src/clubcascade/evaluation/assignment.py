"""Which user sees which arm: a salted hash, so that users stay and nothing is stored."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Mapping
from itertools import accumulate
from numbers import Integral, Real
from typing import Any

from clubcascade import validation
from clubcascade.errors import InvalidArgument
from clubcascade.model_file import encode


def assign(user: Hashable, shares: Mapping[str, float], salt: str) -> str:
    """Return the arm of a user: always the same one, and independent of other salts.

    Parameters
    ----------
    user
        An id as policies take it; ids that are equal have the same arm.
    shares
        The arms, and a relative share of each.
    salt
        Name of the experiment: another salt assigns all users anew.

    Examples
    --------
    >>> assign("alice", {"now": 0.5, "new": 0.5}, salt="spring")
    'now'
    """
    names = list(shares)
    if not names:
        raise InvalidArgument("shares must name at least one arm, got none")
    parts = [
        validation.number(f"shares[{name!r}]", shares[name], low=0, high=1e100) for name in names
    ]
    whole = sum(parts)
    if not whole > 0:
        raise InvalidArgument(f"shares must have a sum above 0, got {dict(shares)!r}")
    bounds = [part / whole for part in accumulate(parts)]
    text = json.dumps([salt, encode(_canonical(user))]).encode()
    point = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 11
    at = point / 2**53
    return next(name for name, bound in zip(names, bounds, strict=True) if at < bound)


def _canonical(user: Any) -> Any:
    """Return one form of ids that are equal as keys of a dict: 1, 1.0 and True are one user."""
    if isinstance(user, Real) and math.isfinite(user) and float(user).is_integer():
        return int(float(user)) if not isinstance(user, Integral) else int(user)
    if isinstance(user, tuple | frozenset):
        return type(user)(map(_canonical, user))
    return user
