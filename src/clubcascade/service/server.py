"""The process around the service: a socket, signals, slow clients, a clean end."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import signal
import socket
from collections.abc import Coroutine
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from clubcascade.errors import InvalidArgument
from clubcascade.service.app import Service, respond
from clubcascade.service.problems import Problem
from clubcascade.service.settings import Limits


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def patient_for(limits: Limits) -> type[asyncio.Protocol]:
    """Return an HTTP protocol that hangs up on clients whose request does not come in time.

    A connection beyond the limit is answered once, that there are too many, and closed; those
    that were there before go on as they were.
    """
    seconds = limits.seconds

    class Patient(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._hang_up)
            if len(self.connections) > limits.connections:
                self.app = too_many

        def send_400_response(self, msg: str) -> None:
            problem = Problem(400, "malformed", "this is no HTTP request")
            body = msgspec.json.encode(problem.body())
            self.transport.write(
                b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
            )
            self.transport.close()

        def on_message_begin(self) -> None:
            if self._timer is None:
                self._timer = self.loop.call_later(seconds, self._hang_up)
            super().on_message_begin()

        def on_message_complete(self) -> None:
            self._stop()
            super().on_message_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _hang_up(self) -> None:
            self._timer = None
            if not self.transport.is_closing():
                self.transport.close()

    return Patient


async def too_many(scope: Any, receive: Any, send: Any) -> None:
    """Answer a connection that is one too many, in the shape of all errors."""
    problem = Problem(503, "too_many_connections", "the service has as many clients as it takes")
    await respond(send, 503, problem.body(), {"connection": "close"})


def config(service: Service, **options: Any) -> uvicorn.Config:
    """Return the server's settings."""
    service.guard.server_hangs_up = True
    return uvicorn.Config(
        service,
        http=patient_for(service.limits),
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        **options,
    )


def listen(host: str, port: int) -> socket.socket:
    """Take an address; port 0 finds a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(2048)  # from now on clients wait instead of being refused
    except OSError as error:
        found.close()
        raise InvalidArgument(f"port must be free on {host}, got {port}: {error}") from None
    return found


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, on the faster event loop where there is one.

    The process is ours: requests leave few cycles behind, so they are looked for less often.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


async def serve(service: Service, sock: socket.socket, seconds: float | None = None) -> None:
    """Serve until a signal, or the time, says to stop; then finish what was begun."""
    server = uvicorn.Server(config(service))
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server stops on these and raises them again at its end: we end as one that is done.
        signal.signal(number, lambda *_: None)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    while not running.done() and service.shop is None and service.failure is None:
        await asyncio.sleep(0.05)
    if service.failure is not None:
        server.should_exit = True
    if seconds is not None:
        await asyncio.wait([running], timeout=seconds)
        server.should_exit = True
    await running
    if service.failure is not None:
        raise service.failure
