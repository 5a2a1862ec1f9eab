"""HTTP as the server speaks it: patience with clients, and a short way for the usual request.

The short way: a whole request to one of the two busy addresses is answered by a call, and its
answer written at once, without the task, the messages and the scope copies of ASGI. Whatever is
unusual (pipelined, chunked, upgraded, too large) takes the long way, which answers the same.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from clubcascade.service.endpoint import QuickEndpoint, encode, headers_of, respond
from clubcascade.service.problems import Problem

if TYPE_CHECKING:
    from clubcascade.service.app import Service


REMEMBERED = 1_000
"""Addresses whose endpoints are remembered."""
PIECE = 8_192
"""Bytes that are read of a connection before it is asked whether its client reads the answers."""
HEAD = 2**16
"""Bytes that a request may have besides its body: address, headers, sizes of chunks."""
EXCESS = 64
"""Connections beyond the limit that are answered when they ask; more are answered at once."""


class _Nobody:
    """Stands for the event that nobody waits for on the short way."""

    def set(self) -> None:
        """Do nothing."""


class Heads:
    """Heads of answers by status, made anew when the server's own headers (the date) are new."""

    def __init__(self) -> None:
        self._made: dict[int, bytes] = {}
        self._with: list[tuple[bytes, bytes]] | None = None

    def get(self, status: int, common: list[tuple[bytes, bytes]]) -> bytes:
        """Return all of the head but the length of the body."""
        if common is not self._with:
            self._made, self._with = {}, common
        head = self._made.get(status)
        if head is None:
            lines = [STATUS_LINE[status], b"content-type: application/json\r\n"]
            for name, value in (*common, *headers_of(status)):
                lines += (name, b": ", value, b"\r\n")
            head = self._made[status] = b"".join(lines)
        return head


class Flow(FlowControl):
    """Who may read and write; while ``held``, nothing more is read, whoever asks for it."""

    held = False

    def resume_reading(self) -> None:
        """Read on, unless what was read before still waits."""
        if not self.held:
            super().resume_reading()


class Ride:
    """One request on the short way; to the server it looks like any other that is under way."""

    __slots__ = (
        "_endpoint",
        "_key",
        "_parts",
        "_protocol",
        "disconnected",
        "keep_alive",
        "response_complete",
        "scope",
    )
    message_event = _Nobody()

    def __init__(
        self, protocol: Any, endpoint: QuickEndpoint, scope: dict[str, Any], keep_alive: bool
    ) -> None:
        self._protocol, self._endpoint, self.keep_alive = protocol, endpoint, keep_alive
        self.scope = scope
        self._key = endpoint.admit(scope)
        self._parts: list[bytes] = []
        self.disconnected = self.response_complete = False

    def take(self, body: bytes) -> None:
        """Keep a part of the body, if it is of someone who may ask."""
        if not isinstance(self._key, Exception):
            self._parts.append(body)

    def go(self) -> None:
        """Serve the request, which is whole now."""
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._endpoint.ride(self.scope, self._key, body, self._reply)

    def _reply(self, status: int, answer: Any) -> None:
        if self.response_complete:
            return
        self.response_complete = True
        if self.disconnected:
            return
        protocol, body = self._protocol, encode(answer)
        head = protocol.heads.get(status, protocol.server_state.default_headers)
        length = b"content-length: %d\r\n\r\n" % len(body)
        if self.keep_alive:
            protocol.transport.write(b"".join((head, length, body)))
        else:
            protocol.transport.write(b"".join((head, b"connection: close\r\n", length, body)))
            protocol.transport.close()
            protocol.limit_time()
        protocol.on_response_complete()


def protocol_for(service: Service) -> type[asyncio.Protocol]:
    """Return the protocol of a service's connections.

    Clients whose request does not come in time are hung up on. A connection beyond the limit is
    answered once, that there are too many, and closed; those that were there before go on.
    """
    limits = service.limits
    found_before: dict[bytes, tuple[QuickEndpoint, dict[str, str]] | None] = {}

    def find(url: bytes) -> tuple[QuickEndpoint, dict[str, str]] | None:
        """Return the endpoint of an address that many ask for; remember the answer."""
        if url not in found_before:
            if len(found_before) >= REMEMBERED:
                found_before.clear()
            known = None if b"%" in url else service.find_quick("POST", url.decode("latin-1"))
            found_before[url] = known
        return found_before[url]

    class Express(HttpToolsProtocol):
        heads = Heads()
        _timer: asyncio.TimerHandle | None = None
        _begun = False
        _idle_timer: asyncio.TimerHandle | None = None
        _idle_since: float | None = None
        flow: Flow
        _held = b""
        _besides = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.flow = Flow(transport)
            self.limit_time()
            if len(self.connections) > limits.connections + EXCESS:
                self._refuse(TOO_MANY)
            elif len(self.connections) > limits.connections:
                self.app = too_many

        def data_received(self, data: bytes) -> None:
            self._held = self._held + data if self._held else data
            self._read_on()

        def _read_on(self) -> None:
            """Read a piece at a time, while the client takes the answers to those before."""
            while self._held and not self._must_wait():
                piece, self._held = self._held[:PIECE], self._held[PIECE:]
                self._besides += len(piece)
                super().data_received(piece)
                if self._begun and self._besides > HEAD:
                    self._refuse(TOO_LARGE)
            if self.transport.is_closing():
                self._held = b""
                return
            before, self.flow.held = self.flow.held, bool(self._held)
            if self._held:
                self.flow.pause_reading()
            elif before:
                self.flow.resume_reading()
            if self._begun:  # the rest must come in time
                self.limit_time()

        def limit_time(self) -> None:
            """Hang up unless what is awaited of the client comes in time."""
            if self._timer is None:
                self._timer = self.loop.call_later(limits.seconds, self._hang_up)

        def _must_wait(self) -> bool:
            busy = bool(self.pipeline) or self.flow.write_paused
            return busy or self.transport.is_closing()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.limit_time()

        def resume_writing(self) -> None:
            super().resume_writing()
            if not self._begun:
                self._stop()
            self._go_on()

        def _go_on(self) -> None:
            """Read what was held back, and then from the socket again."""
            if self._held and not self._must_wait():
                self.loop.call_soon(self._read_on)
            else:
                self.flow.resume_reading()

        def on_message_begin(self) -> None:
            self._begun = True
            self._besides = min(self._besides, PIECE)
            self.url, self.headers, self.expect_100_continue = b"", [], False

        def on_headers_complete(self) -> None:
            ride: Any = self._short_way()
            if ride is not None:
                self.cycle = ride
                return
            url, headers, expects = self.url, self.headers, self.expect_100_continue
            super().on_message_begin()  # what the long way needs
            self.url, self.expect_100_continue = url, expects
            self.headers.extend(headers)
            super().on_headers_complete()

        def _short_way(self) -> Ride | None:
            """Return the ride of a request that may take the short way."""
            idle = self.cycle is None or self.cycle.response_complete
            parser = self.parser
            if not idle or parser.get_method() != b"POST" or self.app is too_many:
                return None
            found = find(self.url)
            if found is None or self.expect_100_continue or parser.should_upgrade():
                return None
            if parser.get_http_version() != "1.1":
                return None
            for name, value in self.headers:
                if name == b"content-length" and value.isdigit() and int(value) <= limits.body:
                    scope = {"headers": self.headers, "path_params": found[1]}
                    return Ride(self, found[0], scope, parser.should_keep_alive())
            return None

        def on_body(self, body: bytes) -> None:
            self._besides -= len(body)
            ride: Any = self.cycle
            if type(ride) is Ride:
                ride.take(body)
            else:
                super().on_body(body)

        def on_message_complete(self) -> None:
            self._begun = False
            if not self.flow.write_paused:
                self._stop()
            ride: Any = self.cycle
            if type(ride) is Ride:
                ride.go()
            else:
                super().on_message_complete()

        def on_response_complete(self) -> None:
            self.server_state.total_requests += 1
            if self.transport.is_closing():
                return
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
                self._go_on()
                return
            self._go_on()
            self._idle_since = self.loop.time()
            if self._idle_timer is None:  # one timer for a connection, not one for each answer
                self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._look_idle)

        def _unset_keepalive_if_required(self) -> None:
            self._idle_since = None

        def _look_idle(self) -> None:
            self._idle_timer = None
            left = float(self.timeout_keep_alive)
            if self._idle_since is not None:
                left -= self.loop.time() - self._idle_since
            if left <= 0:
                self._hang_up()
            elif not self.transport.is_closing():
                self._idle_timer = self.loop.call_later(left, self._look_idle)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            if self._idle_timer is not None:
                self._idle_timer.cancel()
            super().connection_lost(exc)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _hang_up(self) -> None:
            self._timer = None
            if self.transport.get_write_buffer_size():  # nobody reads: nothing to wait for
                self.transport.abort()
            elif not self.transport.is_closing():
                self.transport.close()

        def send_400_response(self, msg: str) -> None:
            self._refuse(Problem(400, "malformed", "this is no HTTP request"))

        def _refuse(self, problem: Problem) -> None:
            """Answer outside of all requests, and hang up."""
            if self.transport.is_closing():
                return
            body = encode(problem.body())
            self.transport.write(
                STATUS_LINE[problem.status] + b"content-type: application/json\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
            )
            self.transport.close()
            self.limit_time()

    return Express


TOO_MANY = Problem(503, "too_many_connections", "the service has as many clients as it takes")
TOO_LARGE = Problem(431, "too_large", f"a request may have {HEAD} bytes besides its body")


async def too_many(scope: Any, receive: Any, send: Any) -> None:
    """Answer a connection that is one too many, in the shape of all errors."""
    await respond(send, 503, TOO_MANY.body(), {"connection": "close"})
