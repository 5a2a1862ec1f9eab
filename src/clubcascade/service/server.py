"""The processes around the service: connections within bounds, signals, workers, a clean end.

Around uvicorn's protocol stands one that counts: it hands on what can be served, holds back what
was sent ahead, and hangs up on clients that send endless heads, let us wait, or do not read.
"""

from __future__ import annotations

import asyncio
import copy
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
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.service.app import Service
from clubcascade.service.http import Limits, Problem, Receive, Scope, Send, encode, respond
from clubcascade.service.keys import KeyFile
from clubcascade.service.recommender import Recommender

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
