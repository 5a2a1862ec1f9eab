"""Errors as HTTP tells them: one JSON shape with a code, a field, a reason and a hint."""

from __future__ import annotations

import re
from typing import Any

from clubcascade.errors import (
    ClubCascadeError,
    InvalidArgument,
    StoreError,
    UnknownName,
    UnknownUser,
)

_FIELD = re.compile(r"(\w+) must ")
_RENAMED = {"shown": "items", "clicks": "clicks", "name": "model"}


class Problem(Exception):
    """A request that cannot be served, and how the client is told.

    Parameters
    ----------
    status
        The HTTP status.
    code
        A word for programs: ``invalid``, ``unauthorized``, ``forbidden``, ``not_found``, ...
    reason, field, hint
        What is wrong, where, and what to do about it.
    """

    def __init__(
        self, status: int, code: str, reason: str, *, field: str | None = None, hint: str = ""
    ) -> None:
        super().__init__(reason)
        self.status, self.code, self.reason, self.field = status, code, reason, field
        self.hint = hint or _HINTS.get(code, "")

    def body(self) -> dict[str, Any]:
        """Return the error as JSON has it."""
        return {
            "error": {
                "code": self.code,
                "field": self.field,
                "reason": self.reason,
                "hint": self.hint,
            }
        }

    @classmethod
    def of(cls, error: ClubCascadeError) -> Problem:
        """Tell an error of the package."""
        reason = str(error)
        if isinstance(error, StoreError):
            return cls(503, "unavailable", reason)
        if isinstance(error, UnknownName | UnknownUser):
            return cls(404, "not_found", reason)
        if isinstance(error, InvalidArgument):
            found = _FIELD.match(reason)
            field = found[1] if found else None
            return cls(422, "invalid", reason, field=_RENAMED.get(field or "", field))
        return cls(422, "invalid", reason)


_HINTS = {
    "invalid": "See /docs for the fields of this request.",
    "malformed": "Send one JSON object as /docs describes it.",
    "unauthorized": "Send the header 'Authorization: Bearer <key>'.",
    "forbidden": "Ask the operator for a key with that role on that model.",
    "not_found": "See /docs for the addresses; GET /v1/models lists your models.",
    "method_not_allowed": "See /docs for the methods of this address.",
    "too_large": "Send less at a time.",
    "too_many_requests": "Wait a moment, then try again.",
    "too_many_connections": "Close connections that you do not use, or wait a moment.",
    "timeout": "Send the request without long pauses.",
    "starting": "The service reads its store; ask /readyz when it is done.",
    "unavailable": "Nothing was learned; send the same request again later.",
    "conflict": "Use another name, or the parameters of the model that exists.",
}
