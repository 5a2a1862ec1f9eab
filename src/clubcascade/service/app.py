"""The service over HTTP: its addresses, its start and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.routing import Route, Router

from clubcascade.errors import StoreUnavailable
from clubcascade.service.endpoint import (
    Call,
    Endpoint,
    Handler,
    Methods,
    QuickEndpoint,
    Send,
    respond,
)
from clubcascade.service.guard import Guard, Receive, Scope
from clubcascade.service.keys import KeyFile
from clubcascade.service.lists import Lists
from clubcascade.service.metrics import Metrics
from clubcascade.service.model import Model
from clubcascade.service.pages import DOCS, PAGE
from clubcascade.service.problems import Problem
from clubcascade.service.pulse import Pulse
from clubcascade.service.recommender import Recommender
from clubcascade.service.settings import Limits
from clubcascade.service.stock import Stock
from clubcascade.service.views import Views
from clubcascade.service.warming import warm

Row: TypeAlias = tuple[str, str, str, str | None, Handler]


class Service:
    """The ASGI application.

    Parameters
    ----------
    opener
        Opens the recommender; called in a thread, so that ``/healthz`` answers meanwhile.
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
        self.limits = self.guard.limits
        self._opener = opener
        self._pulses: dict[str, Pulse] = {}
        self._beating: asyncio.Task[None] | None = None
        lists = Lists(self)
        self._quick = {
            name: QuickEndpoint(self, name, "write", handler)
            for name, handler in (("recommend", lists.recommend), ("feedback", lists.feedback))
        }
        self._router = Router(routes=self._routes(), default=self._nowhere)

    def _routes(self) -> list[Route]:
        model = "/v1/models/{model}"
        stock, views = Stock(self), Views(self)
        table: list[Row] = [
            ("GET", "/healthz", "healthz", None, views.healthz),
            ("GET", "/readyz", "readyz", None, views.readyz),
            ("GET", "/metrics", "metrics", "read", views.tell_metrics),
            ("GET", "/openapi.json", "openapi", None, views.openapi),
            ("GET", "/docs", "docs", None, partial(views.page, DOCS)),
            ("GET", "/ui", "ui", None, partial(views.page, PAGE)),
            ("GET", "/v1/models", "models", "read", stock.models),
            ("PUT", model, "put_model", "admin", stock.put_model),
            ("GET", model, "get_model", "read", views.get_model),
            ("GET", model + "/users/{user:path}", "user", "read", views.user),
            ("GET", model + "/clusters", "clusters", "read", views.clusters),
            ("GET", model + "/digest", "digest", "read", views.digest),
            ("GET", model + "/pulse", "pulse", "read", views.pulse),
            ("POST", model + "/snapshot", "snapshot", "admin", views.snapshot),
            ("PUT", "/v1/{model}/items", "put_items", "write", stock.put_items),
            ("DELETE", "/v1/{model}/items", "delete_items", "write", stock.delete_items),
        ]
        by_path: dict[str, dict[str, Endpoint]] = {
            f"/v1/{{model}}/{name}": {"POST": endpoint} for name, endpoint in self._quick.items()
        }
        for method, path, name, role, handler in table:
            by_path.setdefault(path, {})[method] = Endpoint(self, name, role, handler)
        return [
            Route(path, Methods(ways), methods=list(ways), include_in_schema=False)
            for path, ways in by_path.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the start and the end of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        quick = self.find_quick(scope["method"], scope["path"])
        if quick is not None:
            endpoint, scope["path_params"] = quick
            await endpoint(scope, receive, send)
            return
        scope["app"] = self
        try:
            await self._router(scope, receive, send)
        except HTTPException as error:
            codes = {405: "method_not_allowed", 404: "not_found"}
            code = codes.get(error.status_code, "malformed")
            problem = Problem(error.status_code, code, f"{scope['method']}: {error.detail}")
            allowed = {k.lower(): v for k, v in (error.headers or {}).items()}
            await respond(send, problem.status, problem.body(), allowed)

    def find_quick(self, method: str, path: str) -> tuple[QuickEndpoint, dict[str, str]] | None:
        """Do what the router would do for the two addresses that matter, in a tenth of the time."""
        parts = path.split("/")
        if method != "POST" or len(parts) != 4 or parts[1] != "v1" or not parts[2]:
            return None
        endpoint = self._quick.get(parts[3])
        return None if endpoint is None else (endpoint, {"model": parts[2]})

    async def _nowhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = Problem(404, "not_found", "there is nothing at this address")
        await respond(send, 404, problem.body())

    # -- start and end -------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        opening: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                opening = asyncio.create_task(self.open())
                await send({"type": "lifespan.startup.complete"})
            else:
                if opening is not None:
                    await opening
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def open(self) -> None:
        """Open the recommender and warm it up."""
        try:
            shop = await asyncio.to_thread(self._opener)
            self.state = "the service warms up"
            await asyncio.to_thread(warm, shop)
        except BaseException as error:
            self.failure, self.state = error, f"the store could not be opened: {error}"
            return
        self.shop = shop
        self._beating = asyncio.create_task(self._beat())

    async def close(self) -> None:
        """Finish what was acknowledged, and let the store go."""
        if self._beating is not None:
            self._beating.cancel()
        shop, self.shop = self.shop, None
        self.state = "the service stops"
        if shop is not None:
            await asyncio.to_thread(shop.close)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            shop = self.shop
            if shop is not None and shop.failure is not None:
                self.failure = StoreUnavailable(shop.problem or "the writer has stopped")
            for name in () if shop is None else shop.models:
                assert shop is not None
                await asyncio.to_thread(self.pulse_of(name).look, shop.model(name))

    # -- what the endpoints ask for ------------------------------------------------------------

    def pulse_of(self, name: str) -> Pulse:
        """Return what a model did lately."""
        pulse = self._pulses.get(name)
        if pulse is None:
            pulse = self._pulses[name] = Pulse()
        return pulse

    @property
    def open_shop(self) -> Recommender:
        """The recommender; raises while there is none."""
        if self.shop is None:
            raise Problem(503, "starting", self.state)
        return self.shop

    def model_of(self, call: Call) -> Model:
        """Return the model that a request is about."""
        return self.open_shop.model(call.params["model"])
