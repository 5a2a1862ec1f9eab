"""The processes around the service: a socket, signals, workers, a clean end."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.service.app import Service
from clubcascade.service.connections import EXCESS, Connections
from clubcascade.service.keys import KeyFile
from clubcascade.service.recommender import Recommender
from clubcascade.service.settings import Limits

OWN_FILES = 128
"""Files that the service itself has open, with some to spare."""
REVIVE = 1.0
"""Seconds before a worker that has ended is started anew."""

_log = logging.getLogger("clubcascade.service")


@dataclass(frozen=True, slots=True)
class Options:
    """All that a process needs to know to serve.

    Parameters
    ----------
    store
        Folder or URL of the store.
    keys
        File of the keys, None where everyone may do everything.
    limits
        How much one client may ask for.
    recommender
        Further options of the recommender.
    log_level, log_format, access_log
        What is logged, to the standard error: ``text`` or ``json``; a line for every request.
    """

    store: str
    keys: Path | None = None
    limits: Limits = field(default_factory=Limits)
    recommender: dict[str, Any] = field(default_factory=dict)
    log_level: str = "warning"
    log_format: str = "text"
    access_log: bool = False

    def service(self) -> Service:
        """Make the service; its store is opened when it runs."""
        set_up_logs(self.log_level, self.log_format, self.access_log)
        keys = None if self.keys is None else KeyFile(self.keys)
        return Service(partial(Recommender, self.store, **self.recommender), keys, self.limits)


class JsonLines(logging.Formatter):
    """A log line as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told)


def set_up_logs(level: str, kind: str, access: bool) -> None:
    """Send our log lines, and those of the HTTP server, to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    text = "%(asctime)s %(levelname)s %(message)s"
    handler.setFormatter(JsonLines() if kind == "json" else logging.Formatter(text))
    for name in ("clubcascade", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("clubcascade.access").setLevel("INFO" if access else "WARNING")


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
    return uvicorn.Config(
        service,
        http=Connections(service.limits),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
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


# -- workers -------------------------------------------------------------------------------------


def _work(options: Options, sock: socket.socket, opened: Any) -> None:
    """Be one worker; end with the process that started it."""

    def follow_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow_parent, daemon=True).start()
    service = options.service()
    service.on_open = opened.set
    try:
        run(serve(service, sock))
    except ClubCascadeError as error:
        print(f"clubcascade: {error}", file=sys.stderr)
        sys.exit(2)


class Workers:
    """Several processes that serve one socket, each a server of its own on the same store.

    One that ends is started anew.

    Parameters
    ----------
    options
        What each of them does.
    sock
        Where they listen.
    count
        How many.
    """

    def __init__(self, options: Options, sock: socket.socket, count: int) -> None:
        self._options, self._sock, self._count = options, sock, count
        self._spawn = multiprocessing.get_context("spawn")
        self._opened = self._spawn.Event()
        self._stopping = threading.Event()
        self._processes: list[Any] = []

    def _start(self) -> Any:
        args = (self._options, self._sock, self._opened)
        process = self._spawn.Process(target=_work, args=args, name="clubcascade-worker")
        process.start()
        return process

    def run(self, on_open: Callable[[], None]) -> None:
        """Serve until a signal says to stop; ``on_open`` is called once the store is open."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stopping.set())
        try:
            self._processes = [self._start()]  # it makes the store, and compiles for all
            while not self._opened.wait(0.1) and not self._stopping.is_set():
                if self._processes[0].exitcode is not None:
                    sys.exit(self._processes[0].exitcode or 1)
            on_open()
            self._processes += [self._start() for _ in range(self._count - 1)]
            while not self._stopping.wait(0.2):
                self._revive()
        finally:
            for process in self._processes:
                process.terminate()
            for process in self._processes:
                process.join()

    def _revive(self) -> None:
        for place, process in enumerate(self._processes):
            if process.exitcode is not None:
                _log.error("worker %s has ended (%s)", process.pid, process.exitcode)
                self._stopping.wait(REVIVE)
                if not self._stopping.is_set():
                    self._processes[place] = self._start()
