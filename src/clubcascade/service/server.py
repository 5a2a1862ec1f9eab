"""The process around the service: a socket, signals, slow clients, a clean end."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import signal
import socket
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import uvicorn

from clubcascade.errors import InvalidArgument
from clubcascade.service.app import Service
from clubcascade.service.express import EXCESS, protocol_for

OWN_FILES = 128
"""Files that the service itself has open, with some to spare."""


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


def config(service: Service, **options: Any) -> uvicorn.Config:
    """Return the server's settings."""
    service.guard.server_hangs_up = True
    return uvicorn.Config(
        service,
        http=protocol_for(service),
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


def allow_files(count: int) -> int:
    """Let this process have ``count`` files and connections open, if it may; return the number."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        return allowed
    return soft


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
    most = service.limits.connections
    own = OWN_FILES + EXCESS  # connections beyond the limit get an answer too
    files = allow_files(most + own)
    if files < most + own:
        service.limits = replace(service.limits, connections=max(1, files - own))
    server = uvicorn.Server(config(service))
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server stops on these and raises them again at its end: we end as one that is done.
        signal.signal(number, lambda *_: None)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    opened = 0.0
    while not running.done():
        await asyncio.wait([running], timeout=0.05 if service.shop is None else 0.5)
        if service.shop is not None:
            opened = opened or time.monotonic()
        late = seconds is not None and opened > 0.0 and time.monotonic() - opened > seconds
        server.should_exit = server.should_exit or late or service.failure is not None
    await running
    if service.failure is not None:
        raise service.failure
