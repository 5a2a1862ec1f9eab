"""What an operator can set for the HTTP service: by option, or by an environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from clubcascade.errors import InvalidArgument

PREFIX = "CLUBCASCADE_LIMIT_"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one client may ask for; what is beyond gets a clear error, never a slow service.

    Each is also an environment variable, ``CLUBCASCADE_LIMIT_BODY`` and so on.
    """

    body: int = 4 * 2**20
    """Bytes of a request."""
    held: int = 32 * 2**20
    """Bytes of requests that one key may have in work at a time, at least those of one request."""
    model: int = 64 * 2**20
    """Bytes of a model file that is sent."""
    candidates: int = 10_000
    """Items of a request: to rank, to register or to remove."""
    features: int = 1_024
    """Numbers of a vector."""
    batch: int = 10_000
    """Pieces of feedback of a request."""
    k: int = 1_000
    """Length of a list."""
    rate: float = 5_000.0
    """Requests per second and key; bursts of twice that. 0: any number."""
    seconds: float = 10.0
    """Time for a client to send its request, or to read its answer."""
    connections: int = 1_000
    """Connections at a time."""
    models: int = 1_000
    """Models of a service."""

    @classmethod
    def of(cls, environment: Mapping[str, str], **given: Any) -> Limits:
        """Return the limits that an environment sets; what is given counts more.

        >>> Limits.of({"CLUBCASCADE_LIMIT_BODY": "1000"}, rate=7.0).body
        1000
        """
        for one in fields(cls):
            text = environment.get(PREFIX + one.name.upper())
            if text is None or one.name in given:
                continue
            try:
                value = int(text) if one.type == "int" else float(text)
            except ValueError:
                value = -1
            if not 0 <= value < 2**53 or (value == 0 and one.name != "rate"):
                raise InvalidArgument(
                    f"{PREFIX}{one.name.upper()} must be a positive number, got {text!r}"
                )
            given[one.name] = value
        return cls(**given)
