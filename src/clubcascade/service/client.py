"""Clients of the service: one that blocks, one for event loops. Both retry with the same id."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from clubcascade.errors import ClubCascadeError, MissingExtra
from clubcascade.service.decision import Decision, Outcome

try:
    import httpx
except ImportError as error:  # pragma: no cover - tried by the gate without extras
    raise MissingExtra('the client needs httpx: pip install "clubcascade[client]"') from error

AGAIN = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same request is sent again."""


class ServiceError(ClubCascadeError):
    """The service refused a request, or could not be reached."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code = error.get("code")
        self.field = error.get("field")
        self.hint = error.get("hint")
        super().__init__(f"{status} {self.code}: {error.get('reason')} {self.hint or ''}".strip())


class _Calls:
    """What both clients send, and how they read the answers."""

    model: str

    def _recommend(
        self,
        user: str | int,
        k: int,
        items: Any,
        ids: Sequence[str | int] | None,
        candidates: Sequence[str | int] | None,
        request_id: str | None,
    ) -> tuple[str, str, dict[str, Any]]:
        body: dict[str, Any] = {"user": user, "k": k, "request_id": request_id or uuid.uuid4().hex}
        if items is not None:
            body["items"] = items.tolist() if hasattr(items, "tolist") else items
        if ids is not None:
            body["ids"] = list(ids)
        if candidates is not None:
            body["candidates"] = list(candidates)
        return "POST", f"/v1/{self.model}/recommend", body

    def _feedback(self, decision_id: str, click: int | None) -> tuple[str, str, dict[str, Any]]:
        return "POST", f"/v1/{self.model}/feedback", {"decision_id": decision_id, "click": click}

    def _many(self, answers: Iterable[tuple[str, int | None]]) -> tuple[str, str, dict[str, Any]]:
        pieces = [{"decision_id": one, "click": click} for one, click in answers]
        return "POST", f"/v1/{self.model}/feedback", {"feedback": pieces}

    def _put(self, items: Mapping[Any, Sequence[float]]) -> tuple[str, str, dict[str, Any]]:
        rows = [{"id": name, "features": list(map(float, row))} for name, row in items.items()]
        return "PUT", f"/v1/{self.model}/items", {"items": rows}

    def _remove(self, ids: Iterable[str | int]) -> tuple[str, str, dict[str, Any]]:
        return "DELETE", f"/v1/{self.model}/items", {"ids": list(ids)}


def _decision(found: dict[str, Any]) -> Decision:
    scores = found["scores"]
    return Decision(
        found["decision_id"],
        tuple(found["items"]),
        None if scores is None else tuple(scores),
        found["model_version"],
    )


def _outcomes(found: dict[str, Any]) -> list[Outcome | ServiceError]:
    return [
        Outcome(one["outcome"]) if one.get("outcome") else ServiceError(422, one["error"])
        for one in found["outcomes"]
    ]


def _checked(response: httpx.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = {"error": {"code": "unreadable", "reason": response.text[:200]}}
    if response.status_code >= 400:
        error = found.get("error") if isinstance(found, dict) else None
        raise ServiceError(response.status_code, error or {})
    return found  # type: ignore[no-any-return]


def _unreachable(error: Exception) -> ServiceError:
    return ServiceError(0, {"code": "unreachable", "reason": f"{type(error).__name__} {error}"})


def _pause(attempt: int) -> float:
    return min(5.0, 0.1 * 2.0**attempt) * random.uniform(0.5, 1.0)


class Client(_Calls):
    """Talks to a service, blocking.

    Every call may be sent again without harm: lists carry a request id, and feedback counts once.
    So a call is retried when the service is away, slow or unable to write.

    Parameters
    ----------
    url
        Where the service is, as ``http://127.0.0.1:8080``.
    key
        A bearer token.
    model
        Name of the model.
    retries
        How often a call is sent again.
    timeout
        Seconds for one try.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        model: str = "default",
        retries: int = 5,
        timeout: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.model, self.retries = model, retries
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                response = self._http.request(method, path, json=body)
                if response.status_code not in AGAIN or last:
                    return _checked(response)
            except httpx.TransportError as error:
                if last:
                    raise _unreachable(error) from error
            time.sleep(_pause(attempt))
        raise AssertionError("unreachable")  # pragma: no cover

    def recommend(
        self,
        user: str | int,
        k: int,
        items: Any = None,
        *,
        ids: Sequence[str | int] | None = None,
        candidates: Sequence[str | int] | None = None,
        request_id: str | None = None,
    ) -> Decision:
        """Return a list to show; see :meth:`clubcascade.Recommender.recommend`."""
        sent = self._recommend(user, k, items, ids, candidates, request_id)
        return _decision(self._send(*sent))

    def feedback(self, decision_id: str, click: int | None = None) -> Outcome:
        """Tell where the user clicked (0-based; None: no click); durable when this returns."""
        return Outcome(self._send(*self._feedback(decision_id, click))["outcome"])

    def feedback_many(
        self, answers: Iterable[tuple[str, int | None]]
    ) -> list[Outcome | ServiceError]:
        """Tell several clicks in one request."""
        return _outcomes(self._send(*self._many(answers)))

    def register_items(self, items: Mapping[Any, Sequence[float]]) -> int:
        """Register items, id to features; return how many the model has now."""
        return int(self._send(*self._put(items))["items"])

    def remove_items(self, ids: Iterable[str | int]) -> int:
        """Remove items; return how many were there."""
        return int(self._send(*self._remove(ids))["removed"])

    def get(self, path: str) -> dict[str, Any]:
        """Return what another address says, such as ``/v1/models/default/clusters``."""
        return self._send("GET", path)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Calls):
    """Talks to a service from an event loop; the parameters are those of :class:`Client`."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        model: str = "default",
        retries: int = 5,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.model, self.retries = model, retries
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )

    async def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                response = await self._http.request(method, path, json=body)
                if response.status_code not in AGAIN or last:
                    return _checked(response)
            except httpx.TransportError as error:
                if last:
                    raise _unreachable(error) from error
            await asyncio.sleep(_pause(attempt))
        raise AssertionError("unreachable")  # pragma: no cover

    async def recommend(
        self,
        user: str | int,
        k: int,
        items: Any = None,
        *,
        ids: Sequence[str | int] | None = None,
        candidates: Sequence[str | int] | None = None,
        request_id: str | None = None,
    ) -> Decision:
        """Return a list to show; see :meth:`clubcascade.Recommender.recommend`."""
        sent = self._recommend(user, k, items, ids, candidates, request_id)
        return _decision(await self._send(*sent))

    async def feedback(self, decision_id: str, click: int | None = None) -> Outcome:
        """Tell where the user clicked (0-based; None: no click); durable when this returns."""
        return Outcome((await self._send(*self._feedback(decision_id, click)))["outcome"])

    async def feedback_many(
        self, answers: Iterable[tuple[str, int | None]]
    ) -> list[Outcome | ServiceError]:
        """Tell several clicks in one request."""
        return _outcomes(await self._send(*self._many(answers)))

    async def register_items(self, items: Mapping[Any, Sequence[float]]) -> int:
        """Register items, id to features; return how many the model has now."""
        return int((await self._send(*self._put(items)))["items"])

    async def remove_items(self, ids: Iterable[str | int]) -> int:
        """Remove items; return how many were there."""
        return int((await self._send(*self._remove(ids)))["removed"])

    async def get(self, path: str) -> dict[str, Any]:
        """Return what another address says, such as ``/v1/models/default/clusters``."""
        return await self._send("GET", path)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
