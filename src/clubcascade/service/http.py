"""HTTP in and out: limits, who asks, requests as types, answers and errors as bytes."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from clubcascade.errors import (
    ClubCascadeError,
    InvalidArgument,
    StoreError,
    UnknownName,
    UnknownUser,
)
from clubcascade.service.keys import Key, KeyFile

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


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

ANYONE = Key("nobody", "", "admin", ("*",))
"""The key of everyone, where keys are switched off."""
NOBODY = Key("", "", "read", ())
"""The key of those who need none."""

LONGEST_SEARCH = 200
"""Characters of a text to look for."""

_FIELD = re.compile(r"(\w+) must ")
_RENAMED = {"shown": "items", "clicks": "clicks", "name": "model"}
_UNKNOWN = re.compile(r"unknown field `(.*)`")
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}
encode = msgspec.json.Encoder().encode

_log = logging.getLogger("clubcascade.service")


# -- errors --------------------------------------------------------------------------------------


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
        self.headers: list[tuple[bytes, bytes]] | None = None

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


# -- requests ------------------------------------------------------------------------------------


class Call:
    """One request: who asks, of which model, with what."""

    __slots__ = ("binary", "body", "key", "params", "query")

    def __init__(
        self, key: Key, params: dict[str, str], query: bytes, body: bytes, binary: bool = False
    ) -> None:
        self.key, self.params, self.query, self.body = key, params, query, body
        self.binary = binary

    def read(self, kind: type[T]) -> T:
        """Return the body as a type; raise if it is none."""
        return read(self.body, kind)

    def page(self) -> tuple[int, int, str]:
        """Return from where on to list, how much, and the text to look for, in lower case."""
        asked = dict(parse_qsl(self.query.decode("latin-1"), keep_blank_values=True))
        found = []
        for name, default, most in (("offset", 0, 2**53), ("limit", 100, 10_000)):
            text = asked.get(name, str(default))
            if not (text.isascii() and text.isdecimal() and len(text) < 17 and int(text) <= most):
                reason = f"{name} must be a whole number from 0 to {most}, got {text[:40]!r}"
                raise Problem(422, "invalid", reason, field=name)
            found.append(int(text))
        text = asked.get("search", "")
        if len(text) > LONGEST_SEARCH:
            reason = f"search must have at most {LONGEST_SEARCH} characters, got {len(text)}"
            raise Problem(422, "invalid", reason, field="search")
        return found[0], found[1], text.casefold()


def read(body: bytes, kind: type[T]) -> T:
    """Return JSON as a type; raise a problem that names the field."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    try:
        found: T = decoder.decode(body)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        field = path.rstrip("`").lstrip(".") or None
        if field is None and (unknown := _UNKNOWN.search(reason)):
            field = unknown[1]
        raise Problem(422, "invalid", reason, field=field) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Problem(400, "malformed", f"the body is no JSON: {reason}") from None
    return found


# -- who may ask ---------------------------------------------------------------------------------


class Guard:
    """Checks keys and rates; ``keys`` is None where everyone may do everything."""

    def __init__(self, keys: KeyFile | None, limits: Limits) -> None:
        self._keys, self.limits = keys, limits
        self._looked = 0.0
        self._buckets: dict[str, tuple[float, float]] = {}
        self._held: Counter[str] = Counter()

    def admit(self, scope: Scope, role: str, model: str | None) -> Key:
        """Return the key of a request; raise if it has none, may not, or comes too often."""
        key = self._key(scope)
        if not key.may(role, model) and not (model is None and role == "read"):
            # The same words whether or not the model exists.
            where = f" on model {model!r}" if model is not None else ""
            raise Problem(403, "forbidden", f"this key has no role {role!r}{where}")
        self._slow_down(key)
        return key

    def _key(self, scope: Scope) -> Key:
        if self._keys is None:
            _check_neighbour(scope)
            return ANYONE
        now = time.monotonic()
        if now - self._looked > 1.0:
            self._looked = now
            try:
                self._keys.refresh()
            except StoreError as error:  # its path is none of the client's business
                _log.error("%s", error)
                raise Problem(503, "unavailable", "the keys cannot be read") from None
        for name, value in scope["headers"]:
            if name == b"authorization":
                kind, _, token = value.decode("latin-1").partition(" ")
                key = self._keys.find(token.strip()) if kind.lower() == "bearer" else None
                if key is not None:
                    return key
                raise Problem(401, "unauthorized", "the key is not known")
        raise Problem(401, "unauthorized", "the request has no key")

    def _slow_down(self, key: Key) -> None:
        rate = self.limits.rate
        if not rate:
            return
        now = time.monotonic()
        left, then = self._buckets.get(key.id, (2 * rate, now))
        left = min(2 * rate, left + (now - then) * rate)
        if left < 1:
            raise Problem(
                429, "too_many_requests", f"more than {rate:g} requests a second with one key"
            )
        self._buckets[key.id] = (left - 1, now)

    async def body(
        self, key: Key, scope: Scope, receive: Receive, sizes: list[int], most: int
    ) -> bytes:
        """Return the body of a request; raise if it is too large or comes too slowly.

        It counts for its key until :meth:`release` is called with ``sizes``, those of its parts.
        """
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > most:
                raise Problem(413, "too_large", f"a request may have {most} bytes")
        connection = scope.get("clubcascade.connection")
        if connection is None:  # another server than ours
            try:
                async with asyncio.timeout(self.limits.seconds):
                    return await self._read(key, receive, sizes, most)
            except TimeoutError:
                reason = f"no whole request in {self.limits.seconds:g} s"
                raise Problem(408, "timeout", reason) from None
        connection.reads_body(True)  # who is too slow is hung up on
        try:
            return await self._read(key, receive, sizes, most)
        finally:
            connection.reads_body(False)

    def release(self, key: Key, sizes: list[int]) -> None:
        """Let the parts of a body go."""
        self._held[key.id] -= sum(sizes)

    async def _read(self, key: Key, receive: Receive, sizes: list[int], most: int) -> bytes:
        parts: list[bytes] = []
        more, held = True, max(self.limits.held, most)
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem(400, "malformed", "the client went away")
            parts.append(message.get("body", b""))
            sizes.append(len(parts[-1]))
            self._held[key.id] += sizes[-1]
            if sum(sizes) > most:
                raise Problem(413, "too_large", f"a request may have {most} bytes")
            if self._held[key.id] > held:
                reason = f"one key may have {held} bytes of requests in work"
                raise Problem(429, "too_many_requests", reason)
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)


_NEAR = re.compile(rb"(https?://)?(127(\.\d+){3}|localhost|\[::1\])(:\d+)?")


@lru_cache(maxsize=100)
def _is_near(address: bytes) -> bool:
    return _NEAR.fullmatch(address) is not None


def _check_neighbour(scope: Scope) -> None:
    """Without keys, refuse what a page from elsewhere makes a browser send to this machine."""
    for name, value in scope["headers"]:
        if name in (b"origin", b"host") and not _is_near(value):
            raise Problem(
                403, "forbidden", f"without keys, {name.decode()} must be this machine itself"
            )


# -- answers -------------------------------------------------------------------------------------


class Html(str):
    """Text that is HTML; ``policy`` says what it may load."""

    policy: bytes = b""


_COMMON = [(b"x-content-type-options", b"nosniff")]
_STATUS = {
    401: [(b"www-authenticate", b"Bearer")],
    429: [(b"retry-after", b"1")],
    503: [(b"retry-after", b"1")],
}


async def respond(
    send: Send, status: int, answer: Any, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    """Send an answer: JSON, a page or plain text."""
    if isinstance(answer, Html):
        kind, body = b"text/html; charset=utf-8", answer.encode()
    elif isinstance(answer, str):
        kind, body = b"text/plain; version=0.0.4; charset=utf-8", answer.encode()
    else:
        kind, body = b"application/json", encode(answer)
    sent = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *_COMMON]
    if status >= 400:
        sent += _STATUS.get(status, [])
    if isinstance(answer, Html):
        sent += [(b"content-security-policy", answer.policy), (b"referrer-policy", b"no-referrer")]
    if headers:
        sent += headers
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
