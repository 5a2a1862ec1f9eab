"""Who may ask, how much, how often and how slowly."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

from clubcascade.service.keys import Key, KeyFile
from clubcascade.service.problems import Problem
from clubcascade.service.settings import Limits

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

ANYONE = Key("nobody", "", "admin", ("*",))
"""The key of everyone, where keys are switched off."""


class Guard:
    """Checks keys and rates; ``keys`` is None where everyone may do everything."""

    def __init__(self, keys: KeyFile | None, limits: Limits) -> None:
        self._keys, self.limits = keys, limits
        self.server_hangs_up = False
        """Whether the server itself ends slow requests, so that no timer is needed here."""
        self._looked = 0.0
        self._buckets: dict[str, tuple[float, float]] = {}

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
            self._keys.refresh()
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

    async def body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body of a request; raise if it is too large or comes too slowly."""
        most = self.limits.body
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > most:
                raise Problem(413, "too_large", f"a request may have {most} bytes")
        message = await self._next(receive, None)
        if not message.get("more_body"):
            data: bytes = message.get("body", b"")
            self._measure(len(data))
            return data
        parts, size = [message.get("body", b"")], len(message.get("body", b""))
        until = time.monotonic() + self.limits.seconds
        while message.get("more_body"):
            message = await self._next(receive, until)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            self._measure(size)
        return b"".join(parts)

    def _measure(self, size: int) -> None:
        if size > self.limits.body:
            raise Problem(413, "too_large", f"a request may have {self.limits.body} bytes")

    async def _next(self, receive: Receive, until: float | None) -> MutableMapping[str, Any]:
        wait = self.limits.seconds if until is None else max(0.0, until - time.monotonic())
        try:
            if self.server_hangs_up:
                message = await receive()
            else:
                async with asyncio.timeout(wait):
                    message = await receive()
        except TimeoutError:
            raise Problem(
                408, "timeout", f"no whole request in {self.limits.seconds:g} s"
            ) from None
        if message["type"] == "http.disconnect":
            raise Problem(400, "malformed", "the client went away")
        return message


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
