"""The service over HTTP: an ASGI application, its start and its end."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from clubcascade.core import Catalog
from clubcascade.errors import ClubCascadeError, StoreUnavailable
from clubcascade.service.decision import Decision
from clubcascade.service.describe import Activity, Metrics
from clubcascade.service.events import Answered
from clubcascade.service.handlers import Handlers
from clubcascade.service.http import (
    NOBODY,
    Call,
    Guard,
    Html,
    Limits,
    Problem,
    Receive,
    Scope,
    Send,
    respond,
)
from clubcascade.service.keys import KeyFile
from clubcascade.service.model import Model
from clubcascade.service.recommender import Recommender
from clubcascade.service.routes import ROUTES, Route, Router, document

FILE = b"application/octet-stream"
"""The content type of a model file."""
RETRY = 1.0
"""Seconds between two tries to open a store that is not there yet."""

_REFUSES = re.compile(r"authentication|does not exist|pg_hba|must be|resolve host")

_log = logging.getLogger("clubcascade.service")
_access = logging.getLogger("clubcascade.access")


class Service:
    """The ASGI application.

    Parameters
    ----------
    opener
        Opens the recommender; called in a thread, so that ``/healthz`` answers meanwhile. A store
        that is not available is waited for.
    keys
        The keys; None where everyone may do everything.
    limits
        How much one client may ask for.
    """

    def __init__(
        self,
        opener: Callable[[], Recommender],
        keys: KeyFile | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.shop: Recommender | None = None
        self.state = "the store is being read"
        self.failure: BaseException | None = None
        self.metrics = Metrics()
        self.guard = Guard(keys, limits or Limits())
        self._opener = opener
        self.on_open: Callable[[], None] = lambda: None
        """Called once the store is open."""
        self._stopping = False
        self._activities: dict[str, Activity] = {}
        self._watching: asyncio.Task[None] | None = None
        self._pages = _pages()
        handlers = Handlers(self)
        self._router = Router(ROUTES)
        self._handlers: dict[str, Callable[[Call], Awaitable[tuple[int, Any]]]] = {
            route.name: getattr(handlers, route.name) for route in ROUTES
        }

    @property
    def limits(self) -> Limits:
        """How much one client may ask for."""
        return self.guard.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self.guard.limits = limits

    # -- requests ------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the start and the end of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        started = time.perf_counter()
        name, headers = "none", None
        try:
            page = self._pages.get(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
            if page is not None:
                status, answer = 200, page
            else:
                route, params = self._router.find(scope["method"], scope["path"])
                name = route.name
                status, answer = await self._answer(route, params, scope, receive)
        except Exception as error:
            problem = self._problem(name, error)
            status, answer, headers = problem.status, problem.body(), problem.headers
        took = time.perf_counter() - started
        self.metrics.took(name, status, took)
        if _access.isEnabledFor(logging.INFO):
            said = (scope["method"], scope["path"], status, 1000 * took)
            _access.info("%s %s %d %.1f ms", *said)
        await respond(send, status, answer, headers)

    async def _answer(
        self, route: Route, params: dict[str, str], scope: Scope, receive: Receive
    ) -> tuple[int, Any]:
        key = NOBODY
        if route.role is not None:
            key = self.guard.admit(
                scope, route.role, params.get("model") or params.get("experiment")
            )
            if self.shop is None:
                raise Problem(503, "starting", self.state)
        handler, query = self._handlers[route.name], scope["query_string"]
        if scope["method"] in ("GET", "HEAD"):
            return await handler(Call(key, params, query, b"", False))
        binary = route.file and (b"content-type", FILE) in scope["headers"]
        most = self.limits.model if binary else self.limits.body
        sizes: list[int] = []
        try:
            body = await self.guard.body(key, scope, receive, sizes, most)
            return await handler(Call(key, params, query, body, binary))
        finally:
            self.guard.release(key, sizes)

    def _problem(self, name: str, error: Exception) -> Problem:
        """Return how an error is told."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, ClubCascadeError):
            return Problem.of(error)
        _log.error("%s failed", name, exc_info=error)
        return Problem(500, "internal", f"{type(error).__name__} in the service")

    # -- start and end -------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        opening: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                opening = asyncio.create_task(self.open())
                await send({"type": "lifespan.startup.complete"})
            else:
                self._stopping = True
                if opening is not None:
                    await opening
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def open(self) -> None:
        """Open the recommender, as soon as its store is there, and warm it up."""
        try:
            shop = await self._opened()
            if shop is None:
                return
            self.on_open()
            self.state = "the service warms up"
            await asyncio.to_thread(warm, shop)
        except BaseException as error:
            self.failure, self.state = error, f"the store could not be opened: {error}"
            return
        self.shop = shop
        self._watching = asyncio.create_task(self._watch())

    async def _opened(self) -> Recommender | None:
        while not self._stopping:
            try:
                return await asyncio.to_thread(self._opener)
            except StoreUnavailable as error:
                if _REFUSES.search(str(error)):
                    raise  # it is there, and will not have us
                if self.state != str(error):
                    _log.warning("the store is waited for: %s", error)
                self.state = str(error)
                await asyncio.sleep(RETRY)
        return None

    async def close(self) -> None:
        """Finish what was acknowledged, and let the store go."""
        if self._watching is not None:
            self._watching.cancel()
        shop, self.shop = self.shop, None
        self.state = "the service stops"
        if shop is not None:
            await asyncio.to_thread(shop.close)

    async def _watch(self) -> None:
        """Twice a second, look whether the writer lives and where users have moved."""
        while True:
            await asyncio.sleep(0.5)
            shop = self.shop
            if shop is not None and shop.failure is not None:
                self.failure = StoreUnavailable(shop.problem or "the writer has stopped")
            for name in () if shop is None else shop.models:
                try:
                    model = self.open_shop.model(name)
                except ClubCascadeError:
                    continue  # it was deleted, or put aside
                await asyncio.to_thread(self.activity_of(name).look, model)

    # -- what the handlers ask for -------------------------------------------------------------

    def activity_of(self, name: str) -> Activity:
        """Return what a model did lately."""
        activity = self._activities.get(name)
        if activity is None:
            activity = self._activities[name] = Activity()
        return activity

    @property
    def open_shop(self) -> Recommender:
        """The recommender; raises while there is none."""
        if self.shop is None:
            raise Problem(503, "starting", self.state)
        return self.shop


def warm(shop: Recommender) -> None:
    """Load what the first request would wait for."""
    for name in shop.models:
        policy = shop.model(name).policy
        d = policy.n_features
        if d is None:
            continue
        fresh = policy.fresh()
        rows = [[0.0] * d, [0.0] * d]
        user = next(iter(getattr(fresh, "users", None) or ["warm"]))
        decision = Decision("1-0", (0, 1), None, 0, name, user, features=bytes(2 * 8 * d))
        try:
            Model(name, fresh).learn(1, [Answered(decision, "applied", (1, (0,)), 0)])
            fresh.recommend(user, rows, 1)
            fresh.recommend(user, Catalog(rows), 1)
        except ClubCascadeError:
            continue


# -- pages ---------------------------------------------------------------------------------------


def _pages() -> dict[str, Any]:
    """Return the pages by their addresses; each is one file, without anything from elsewhere."""
    folder = resources.files("clubcascade.service") / "pages"
    found: dict[str, Any] = {"/openapi.json": document()}
    for path, name in (("/", "index"), ("/docs", "docs"), ("/ui", "ui")):
        text = Html((folder / f"{name}.html").read_text(encoding="utf-8"))
        text.policy = _policy(text)
        found[path] = text
    return found


def _policy(text: str) -> bytes:
    """Return what a page may load: its own script and style, by their hashes, and our answers."""
    rules = ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"]
    rules.append("frame-ancestors 'none'")
    for kind in ("script", "style"):
        parts = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        sums = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts]
        rules.append(" ".join([f"{kind}-src", *(f"'sha256-{one}'" for one in sums)]))
    return "; ".join(rules).encode()
