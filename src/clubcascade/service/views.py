"""Looks over HTTP: models, users, clusters, digests, metrics, pages, and how the service is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from clubcascade.errors import UnknownUser
from clubcascade.service import looks, openapi, schemas
from clubcascade.service.endpoint import Call, Html
from clubcascade.service.problems import Problem

if TYPE_CHECKING:
    from clubcascade.service.app import Service


class Views:
    """Tells what there is; changes nothing but the snapshots."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_model(self, call: Call) -> tuple[int, Any]:
        """Describe a model."""
        return 200, looks.model_info(self._service.model_of(call))

    async def user(self, call: Call) -> tuple[int, Any]:
        """Describe a user."""
        model, name = self._service.model_of(call), call.params["user"]
        user: str | int = name
        known = getattr(model.policy, "_numbers", {})
        whole = name.removeprefix("-").isdecimal() and name.isascii() and len(name) < 19
        if name not in known and whole and int(name) in known:
            user = int(name)
        card = await asyncio.to_thread(looks.user_card, model, user, 10)
        if not card.known:
            raise UnknownUser(f"user must be one that the model has met, got {name!r}")
        return 200, card

    async def clusters(self, call: Call) -> tuple[int, Any]:
        """Describe the clusters."""
        return 200, await asyncio.to_thread(looks.clusters, self._service.model_of(call))

    async def digest(self, call: Call) -> tuple[int, Any]:
        """Return the digest of a model."""
        model = self._service.model_of(call)
        digest = await asyncio.to_thread(self._service.open_shop.digest, model.name)
        return 200, schemas.Digest(model.name, digest, model.version)

    async def snapshot(self, call: Call) -> tuple[int, Any]:
        """Write a snapshot of all models."""
        self._service.model_of(call)
        return 200, schemas.Snapshot(await asyncio.to_thread(self._service.open_shop.snapshot))

    async def pulse(self, call: Call) -> tuple[int, Any]:
        """Tell the last minutes of a model, for the page."""
        model, shop = self._service.model_of(call), self._service.open_shop
        mine = {o: n for (m, o), n in self._service.metrics.outcomes.items() if m == model.name}
        shares = {"p50": 0.5, "p99": 0.99}
        return 200, self._service.pulse_of(model.name).tell() | {
            "outcomes": mine,
            "waiting": shop.waiting,
            "counters": dict(model.counters),
            "latency": {
                name: {
                    key: self._service.metrics.quantile(name, share)
                    for key, share in shares.items()
                }
                for name in ("recommend", "feedback")
            },
        }

    # -- the service itself --------------------------------------------------------------------

    async def healthz(self, call: Call) -> tuple[int, Any]:
        """Tell that the process lives."""
        return 200, {"status": "alive"}

    async def readyz(self, call: Call) -> tuple[int, Any]:
        """Tell whether the service can take feedback: recovered, and able to write."""
        if self._service.shop is None:
            raise Problem(503, "starting", self._service.state)
        if self._service.shop.problem is not None:
            raise Problem(503, "unavailable", self._service.shop.problem)
        shop = self._service.shop
        return 200, {"status": "ready", "notes": shop.notes, "aside": len(shop.aside)}

    async def tell_metrics(self, call: Call) -> tuple[int, Any]:
        """Tell counters and latencies; of the models that the key is for."""
        shop = self._service.open_shop
        gauges: list[tuple[str, str, dict[str, str], float]] = [
            ("clubcascade_ready", "Whether feedback can be taken.", {}, shop.problem is None),
            ("clubcascade_waiting", "Decisions without an answer.", {}, shop.waiting),
            ("clubcascade_backlog", "Work queued for the writer.", {}, shop.backlog),
            ("clubcascade_commits", "Commits since the start.", {}, shop.commits),
            ("clubcascade_aside", "Models that cannot be read.", {}, len(shop.aside)),
        ]
        for name in filter(call.key.sees, shop.models):
            for counter, value in shop.model(name).counters.items():
                labels = {"model": name, "counter": counter}
                gauges.append(("clubcascade_model", "Counters of a model.", labels, value))
        return 200, self._service.metrics.text(gauges, call.key.sees)

    async def openapi(self, call: Call) -> tuple[int, Any]:
        """Return the OpenAPI document."""
        return 200, openapi.document()

    async def page(self, text: str, call: Call) -> tuple[int, Any]:
        """Return a page."""
        return 200, Html(text)
