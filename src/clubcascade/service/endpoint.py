"""An address and a method: who asks, with what, how long it took, and the answer as bytes."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clubcascade.errors import ClubCascadeError
from clubcascade.service.guard import Receive, Scope
from clubcascade.service.keys import Key
from clubcascade.service.problems import Problem

if TYPE_CHECKING:
    from clubcascade.service.app import Service

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

_log = logging.getLogger("clubcascade.service")
_UNKNOWN = re.compile(r"unknown field `(.*)`")
encode = msgspec.json.Encoder().encode
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}
_NOBODY = Key("", "", "read", ())


class Call:
    """One request: who asks, of which model, with what."""

    __slots__ = ("body", "key", "params", "scope")

    def __init__(self, scope: Scope, key: Key, body: bytes) -> None:
        self.scope, self.key, self.body = scope, key, body
        self.params: dict[str, str] = scope["path_params"]

    def read(self, kind: type[T]) -> T:
        """Return the body as a type; raise if it is none."""
        return read(self.body, kind)


Handler = Callable[[Call], Awaitable[tuple[int, Any]]]
Reply = Callable[[int, Any], None]
"""Takes the status and the answer of a request, once."""


class Endpoint:
    """An address and method: checks who asks, reads the body, times the answer."""

    def __init__(self, service: Service, name: str, role: str | None, handler: Handler) -> None:
        self.service, self.name, self.role, self.handler = service, name, role, handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = time.perf_counter()
        status, answer = await self._answer(scope, receive)
        self.service.metrics.took(self.name, status, time.perf_counter() - started)
        await respond(send, status, answer)

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, Any]:
        try:
            key = self._admit(scope)
            body = b""
            if scope["method"] not in ("GET", "HEAD"):
                body = await self.service.guard.body(scope, receive)
            return await self.handler(Call(scope, key, body))
        except Exception as error:
            return self._wrong(error)

    def _admit(self, scope: Scope) -> Key:
        if self.role is None:
            return _NOBODY
        key = self.service.guard.admit(scope, self.role, scope["path_params"].get("model"))
        if self.service.shop is None:
            raise Problem(503, "starting", self.service.state)
        return key

    def _wrong(self, error: Exception) -> tuple[int, Any]:
        """Return how an error is told."""
        if isinstance(error, Problem | ClubCascadeError):
            problem = error if isinstance(error, Problem) else Problem.of(error)
        else:
            _log.error("%s failed", self.name, exc_info=error)
            problem = Problem(500, "internal", f"{type(error).__name__} in the service")
        return problem.status, problem.body()


QuickHandler = Callable[[Call, Reply], None]


class QuickEndpoint(Endpoint):
    """An endpoint that many requests come to: it answers by a call, without a task of its own.

    The handler returns at once, and may reply then or later.
    """

    def __init__(self, service: Service, name: str, role: str, handler: QuickHandler) -> None:
        self.service, self.name, self.role, self._quick = service, name, role, handler

    def admit(self, scope: Scope) -> Key | Exception:
        """Return the key of a request whose head is here, or why it is refused."""
        try:
            return self._admit(scope)
        except Exception as error:
            return error

    def ride(self, scope: Scope, key: Key | Exception, body: bytes, reply: Reply) -> None:
        """Serve a request whose body is here, by the key that :meth:`admit` found."""
        started = time.perf_counter()
        if isinstance(key, Exception):
            self._done(started, reply, *self._wrong(key))
        else:
            self._ride(Call(scope, key, body), started, reply)

    def _ride(self, call: Call, started: float, reply: Reply) -> None:
        try:
            self._quick(call, partial(self._done, started, reply))
        except Exception as error:
            self._done(started, reply, *self._wrong(error))

    def _done(self, started: float, reply: Reply, status: int, answer: Any) -> None:
        if isinstance(answer, Exception):
            status, answer = self._wrong(answer)
        self.service.metrics.took(self.name, status, time.perf_counter() - started)
        reply(status, answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that comes by way of ASGI."""
        started = time.perf_counter()
        found: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()

        def reply(status: int, answer: Any) -> None:
            if not found.done():
                found.set_result((status, answer))

        try:
            key = self._admit(scope)
            body = await self.service.guard.body(scope, receive)
        except Exception as error:
            self._done(started, reply, *self._wrong(error))
        else:
            self._ride(Call(scope, key, body), started, reply)
        status, answer = await found
        await respond(send, status, answer)


class Methods:
    """The endpoints of one address, by method."""

    def __init__(self, ways: dict[str, Endpoint]) -> None:
        self._ways = ways

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request by the endpoint of its method."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._ways[method](scope, receive, send)


# -- answers -------------------------------------------------------------------------------------


class Html(str):
    """Text that is HTML."""


def headers_of(status: int) -> list[tuple[bytes, bytes]]:
    """Return what a status says besides its number."""
    if status == 401:
        return [(b"www-authenticate", b"Bearer")]
    return [(b"retry-after", b"1")] if status in (429, 503) else []


async def respond(
    send: Send, status: int, answer: Any, headers: dict[str, str] | None = None
) -> None:
    """Send an answer: JSON, a page or plain text."""
    if isinstance(answer, Html):
        kind, body = b"text/html; charset=utf-8", answer.encode()
    elif isinstance(answer, str):
        kind, body = b"text/plain; version=0.0.4; charset=utf-8", answer.encode()
    else:
        kind, body = b"application/json", encode(answer)
    sent = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *headers_of(status)]
    if isinstance(answer, Html):
        sent.append((b"content-security-policy", b"default-src 'self' 'unsafe-inline'"))
    for name, value in (headers or {}).items():
        sent.append((name.encode(), value.encode()))
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})


# -- requests ------------------------------------------------------------------------------------


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


def check_count(field: str, count: int, most: int) -> None:
    """Raise if there is more of something than one request may have."""
    if count > most:
        raise Problem(413, "too_large", f"{field} may be {most}, got {count}", field=field)
