"""Connections within bounds: how many, how much before a request is whole, and how slowly.

Around uvicorn's protocol stands one that counts: it hands on what can be served, holds back what
was sent ahead, and hangs up on clients that send endless heads, let us wait, or do not read.
"""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from clubcascade.service.http import Problem, Receive, Scope, Send, encode, respond
from clubcascade.service.settings import Limits

HEAD = 2**16
"""Bytes that a request may have besides its body: address, headers, sizes of chunks."""
PIECE = 8_192
"""Bytes that are handed on at a time."""
EXCESS = 64
"""Connections beyond the limit that are answered when they ask; more are answered at once."""
SWEEP = 0.5
"""Seconds between two looks for slow clients."""
TOO_MANY = Problem(503, "too_many_connections", "the service has as many clients as it takes")
TOO_LARGE = Problem(431, "too_large", f"a request may have {HEAD} bytes besides its body")
_PHRASES = {431: b"Request Header Fields Too Large", 503: b"Service Unavailable"}


class Connections:
    """All connections of a server; called by uvicorn for the protocol of each."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.open: set[Connection] = set()

    def __call__(self, config: Any, **rest: Any) -> asyncio.Protocol:
        """Make the protocol of one connection."""
        return Connection(self, config, **rest)

    def add(self, connection: Connection) -> int:
        """Take a connection in; return how many there are."""
        if not self.open:
            asyncio.get_running_loop().call_later(SWEEP, self._sweep)
        self.open.add(connection)
        return len(self.open)

    def _sweep(self) -> None:
        """Hang up on whoever is too slow: one timer for all, as long as there are any."""
        loop = asyncio.get_running_loop()
        for connection in list(self.open):
            connection.hang_up_if_slow(loop.time() - self.limits.seconds)
        if self.open:
            loop.call_later(SWEEP, self._sweep)


class Connection(asyncio.Protocol):
    """One client: counts what comes and when, and leaves HTTP to uvicorn."""

    def __init__(self, group: Connections, config: Any, **rest: Any) -> None:
        self._group = group
        own = copy.copy(config)
        self._app = config.loaded_app
        own.loaded_app = self._serve
        self._inner = HttpToolsProtocol(config=own, **rest)
        loop = asyncio.get_event_loop()
        self._now, self._soon = loop.time, loop.call_soon
        self._paused = False
        self._transport: Any = None
        self._active = 0  # requests that are being served
        self._whole = False  # whether a head is whole: what comes now belongs to its request
        self._head = self._behind = 0  # bytes of an unfinished head; bytes behind a whole one
        self._left = 0  # bytes of a body that nobody reads
        self._length = 0  # bytes of the body of the request that is served
        self._end = self._held = b""
        self._awaits_head = self._awaits_body = self._awaits_reader = 0.0

    # -- what uvicorn calls --------------------------------------------------------------------

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose head is here."""
        self._awaits_head, self._head, self._whole = 0.0, 0, True
        self._length = 0
        chunked = False
        for name, value in scope.get("headers", ()):
            if name == b"content-length" and value.isdigit():
                self._length = int(value)
            chunked = chunked or name == b"transfer-encoding"
        scope["clubcascade.connection"] = self
        if chunked:
            receive, send = self._to_the_end(receive, send)
        self._active += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._active -= 1
            self._left, self._behind = max(self._length - self._behind, 0), 0
            self._whole = False
            if self._held:
                self._soon(self._hand_on)

    def _to_the_end(self, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """Read a body of unknown length to its end before the answer, or hang up after it.

        Else one would not know where the next request begins.
        """
        more = True

        async def receive_noting_the_end() -> Any:
            nonlocal more
            message = await receive()
            more = message.get("more_body", False)
            return message

        async def send_after_the_end(message: Any) -> None:
            nonlocal more
            if message["type"] == "http.response.start" and more:
                self.reads_body(begins=True)
                skipped = 0
                while more and skipped < HEAD:
                    skipped += len((await receive_noting_the_end()).get("body", b"")) + 1
                self.reads_body(begins=False)
                if more:
                    close = (b"connection", b"close")
                    message = {**message, "headers": [*message.get("headers", ()), close]}
            await send(message)

        return receive_noting_the_end, send_after_the_end

    def reads_body(self, begins: bool) -> None:
        """Note that a body is waited for, or no longer."""
        self._awaits_body = self._now() if begins else 0.0
        if begins and self._held:
            self._hand_on()

    # -- what the event loop calls -------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take a client in, or tell it that there are too many."""
        self._transport = transport
        count, most = self._group.add(self), self._group.limits.connections
        self._awaits_head = self._now()
        if count > most:
            self._app = too_many
        self._inner.connection_made(transport)
        if count > most + EXCESS:
            self._refuse(TOO_MANY)

    def data_received(self, data: bytes) -> None:
        """Hand on what came, as much as can be served."""
        self._held = self._held + data if self._held else data
        self._hand_on()

    def _hand_on(self) -> None:
        """Hand on a piece at a time, while nobody waits who sent before: uvicorn would take all."""
        closing = self._transport.is_closing
        while self._held and not self._inner.pipeline and not closing():
            room = PIECE
            if self._whole:  # what comes now is the body, or belongs to another request
                if not self._awaits_body:
                    break
                room = max(self._length - self._behind, PIECE)
            piece, self._held = self._held[:room], self._held[room:]
            if self._whole:
                self._behind += len(piece)
            else:
                self._read_head(piece)
            if not closing():
                self._inner.data_received(piece)
            if self._whole and self._held and self._behind >= self._length > 0:
                break
        if closing():
            self._held = b""
        elif len(self._held) > PIECE:
            self._paused = True
            self._transport.pause_reading()
        elif self._paused and not self._held:
            self._paused = False
            self._transport.resume_reading()

    def _read_head(self, data: bytes) -> None:
        """Count what comes before a request is known."""
        skipped = min(len(data), self._left)
        self._left -= skipped
        if skipped == len(data):
            return
        joined, self._end = self._end + data, data[-3:]
        blank = joined.find(b"\r\n\r\n")
        if blank >= 0:
            self._whole, self._behind = True, len(joined) - blank - 4
            return
        self._head += len(data) - skipped
        if self._head > HEAD:
            self._refuse(TOO_LARGE)
        if not self._active and not self._awaits_head:
            self._awaits_head = self._now()

    def pause_writing(self) -> None:
        """Note that the client does not read."""
        self._awaits_reader = self._now()
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Note that it does."""
        self._awaits_reader = 0.0
        self._inner.resume_writing()

    def eof_received(self) -> None:
        """Hand on that nothing more comes."""
        self._inner.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        """Let a client go."""
        self._group.open.discard(self)
        self._inner.connection_lost(error)

    # -- ends ----------------------------------------------------------------------------------

    def hang_up_if_slow(self, before: float) -> None:
        """Hang up if something has been waited for since before that time."""
        waits = (self._awaits_head, self._awaits_body, self._awaits_reader)
        if not any(0.0 < since < before for since in waits):
            return
        if self._transport.get_write_buffer_size():  # nobody reads: nothing to wait for
            self._transport.abort()
        else:
            self._transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answer outside of all requests, and hang up."""
        if self._transport.is_closing():
            return
        body = encode(problem.body())
        self._transport.write(
            b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n%b"
            % (problem.status, _PHRASES[problem.status], len(body), body)
        )
        self._awaits_reader = self._now()
        self._transport.close()


async def too_many(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a connection that is one too many, in the shape of all errors."""
    await respond(send, 503, TOO_MANY.body(), [(b"connection", b"close")])
