"""Clients of the service: one that blocks, one for event loops. Both retry with the same id."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar
from urllib.parse import quote

from clubcascade.errors import ClubCascadeError, MissingExtra
from clubcascade.service.decision import Decision, Outcome

try:
    import httpx
except ImportError as error:  # pragma: no cover - tried by the gate without extras
    raise MissingExtra('the client needs httpx: pip install "clubcascade[client]"') from error

P = ParamSpec("P")
T = TypeVar("T")
Name = str | int
Row = Mapping[str, Any]
"""The columns of an item."""

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


@dataclass(slots=True, eq=False)
class Listed(Decision):
    """A decision as a service told it, with the metadata of its items, if that was asked for."""

    metadata: tuple[dict[str, Any] | None, ...] | None = None


@dataclass(slots=True)
class Request(Generic[T]):
    """What to send, and how to read the answer."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: dict[str, Any] | None = None
    content: bytes | None = None

    def options(self) -> dict[str, Any]:
        """Return what is sent besides the address, as httpx takes it."""
        if self.content is None:
            return {"json": self.body}
        headers = {"Content-Type": "application/octet-stream"}
        return {"content": self.content, "headers": headers}


def _decision(found: dict[str, Any]) -> Listed:
    scores, told = found["scores"], found.get("metadata")
    return Listed(
        found["decision_id"],
        tuple(found["items"]),
        None if scores is None else tuple(scores),
        found["model_version"],
        metadata=None if told is None else tuple(told),
    )


def _outcomes(found: dict[str, Any]) -> list[Outcome | ServiceError]:
    return [
        Outcome(one["outcome"]) if one.get("outcome") else ServiceError(422, one["error"])
        for one in found["outcomes"]
    ]


def _same(found: Any) -> dict[str, Any]:
    return found  # type: ignore[no-any-return]


def _checked(answer: httpx.Response | httpx.TransportError) -> Any:
    if isinstance(answer, httpx.TransportError):
        reason = f"{type(answer).__name__} {answer}"
        raise ServiceError(0, {"code": "unreachable", "reason": reason}) from answer
    try:
        found = answer.json()
    except ValueError:
        found = {"error": {"code": "unreadable", "reason": answer.text[:200]}}
    if answer.status_code >= 400:
        error = found.get("error") if isinstance(found, dict) else None
        raise ServiceError(answer.status_code, error or {})
    return found


def _experiment(name: str) -> str:
    return f"/v1/experiments/{quote(name, safe='')}"


def _pause(attempt: int) -> float:
    return min(5.0, 0.1 * 2.0**attempt) * random.uniform(0.5, 1.0)


class _Calls:
    """What both clients send, and how they read the answers."""

    def __init__(self, model: str, retries: int) -> None:
        self.model, self.retries = model, retries

    def _again(self, answer: httpx.Response | httpx.TransportError, attempt: int) -> bool:
        lost = isinstance(answer, httpx.TransportError) or answer.status_code in AGAIN
        return lost and attempt < self.retries

    def _at(self, *parts: Any) -> str:
        return "/".join(["/v1/models", *(quote(str(part), safe="") for part in parts)])

    def recommend(
        self,
        user: Name,
        k: int,
        items: Any = None,
        *,
        ids: Sequence[Name] | None = None,
        candidates: Sequence[Name] | None = None,
        request_id: str | None = None,
        exclude_seen: bool = False,
        filter: str | None = None,
        greedy: bool = False,
        explore: float | None = None,
        metadata: bool = False,
    ) -> Request[Listed]:
        """Return a list to show; see :meth:`clubcascade.Recommender.recommend`.

        With ``metadata``, also what is known of its items.
        """
        sent: dict[str, Any] = {
            "user": user,
            "k": k,
            "request_id": request_id or uuid.uuid4().hex,
            "items": items.tolist() if hasattr(items, "tolist") else items,
            "ids": None if ids is None else list(ids),
            "candidates": None if candidates is None else list(candidates),
            "filter": filter,
            "explore": explore,
        }
        sent = {name: value for name, value in sent.items() if value is not None}
        flags = {"exclude_seen": exclude_seen, "greedy": greedy, "metadata": metadata}
        sent |= {name: True for name, value in flags.items() if value}
        return Request("POST", f"/v1/{self.model}/recommend", _decision, sent)

    def feedback(self, decision_id: str, click: int | None = None) -> Request[Outcome]:
        """Tell where the user clicked (0-based; None: no click); durable when this returns."""
        sent = {"decision_id": decision_id, "click": click}
        return Request("POST", f"/v1/{self.model}/feedback", lambda a: Outcome(a["outcome"]), sent)

    def feedback_many(
        self, answers: Iterable[tuple[str, int | None]]
    ) -> Request[list[Outcome | ServiceError]]:
        """Tell several clicks in one request."""
        pieces = [{"decision_id": one, "click": click} for one, click in answers]
        return Request("POST", f"/v1/{self.model}/feedback", _outcomes, {"feedback": pieces})

    # -- items ---------------------------------------------------------------------------------

    def register_items(
        self,
        items: Mapping[Any, Sequence[float]] | None = None,
        *,
        columns: Mapping[Any, Row] | None = None,
        metadata: Mapping[Any, Row] | None = None,
    ) -> Request[int]:
        """Register or change items; return how many the model has now.

        Each argument goes by id: features, or rows of the training table, and metadata.
        """
        rows: dict[Any, dict[str, Any]] = {}
        for name, vector in (items or {}).items():
            rows.setdefault(name, {})["features"] = list(map(float, vector))
        for field, given in (("columns", columns), ("metadata", metadata)):
            for name, row in (given or {}).items():
                rows.setdefault(name, {})[field] = dict(row)
        sent = [{"id": name} | row for name, row in rows.items()]
        return Request("PUT", f"/v1/{self.model}/items", itemgetter("items"), {"items": sent})

    def remove_items(self, ids: Iterable[Name]) -> Request[int]:
        """Remove items; return how many were there."""
        read = itemgetter("removed")
        return Request("DELETE", f"/v1/{self.model}/items", read, {"ids": list(ids)})

    def items(self, offset: int = 0, limit: int = 100) -> Request[dict[str, Any]]:
        """Return some of the items, with features and metadata, and how many there are."""
        return self.get(self._at(self.model, "items") + f"?offset={offset}&limit={limit}")

    def item(self, name: Name) -> Request[dict[str, Any]]:
        """Return an item: its features and its metadata."""
        return self.get(self._at(self.model, "items", name))

    def put_item(
        self,
        name: Name,
        features: Sequence[float] | None = None,
        *,
        columns: Row | None = None,
        metadata: Row | None = None,
    ) -> Request[int]:
        """Register or change one item; return how many the model has now."""
        vector = None if features is None else list(map(float, features))
        sent = {"features": vector, "columns": columns, "metadata": metadata}
        sent = {field: value for field, value in sent.items() if value is not None}
        return Request("PUT", self._at(self.model, "items", name), itemgetter("items"), sent)

    def remove_item(self, name: Name) -> Request[bool]:
        """Remove one item; tell whether it was there."""
        return Request("DELETE", self._at(self.model, "items", name), lambda a: a["removed"] > 0)

    # -- models and users ----------------------------------------------------------------------

    def models(self) -> Request[list[str]]:
        """Return the names of the models that the key is for."""
        return Request("GET", "/v1/models", itemgetter("models"))

    def info(self) -> Request[dict[str, Any]]:
        """Describe the model: policy, parameters, counts."""
        return self.get(self._at(self.model))

    def create_model(
        self,
        name: str,
        policy: str | None = None,
        *,
        n_features: int | None = None,
        params: Row | None = None,
        explore: float = 1.0,
        file: str | Path | None = None,
    ) -> Request[dict[str, Any]]:
        """Make a model: by its policy, or of a file of ``clubcascade train``; describe it."""
        if file is not None:
            return Request("PUT", self._at(name), _same, content=Path(file).read_bytes())
        sent: dict[str, Any] = {"policy": policy, "n_features": n_features, "explore": explore}
        sent["params"] = dict(params or {})
        return Request("PUT", self._at(name), _same, sent)

    def delete_model(self, name: str) -> Request[int]:
        """Delete a model; return the position in the log from which on it is gone."""
        return Request("DELETE", self._at(name), itemgetter("position"))

    def users(self, offset: int = 0, limit: int = 100) -> Request[dict[str, Any]]:
        """Return some of the users that the model has met, and how many there are."""
        return self.get(self._at(self.model, "users") + f"?offset={offset}&limit={limit}")

    def user(self, user: Name) -> Request[dict[str, Any]]:
        """Describe a user: cluster, counts, next list."""
        return self.get(self._at(self.model, "users", user))

    def forget_user(self, user: Name) -> Request[int]:
        """Forget a user; return the position in the log from which on they are forgotten."""
        return Request("DELETE", self._at(self.model, "users", user), itemgetter("position"))

    def clusters(self) -> Request[dict[str, Any]]:
        """Describe the clusters and their taste."""
        return self.get(self._at(self.model, "clusters"))

    def activity(self) -> Request[dict[str, Any]]:
        """Tell the last minutes of the model."""
        return self.get(self._at(self.model, "activity"))

    def digest(self) -> Request[dict[str, Any]]:
        """Return the SHA-256 of what was learned, and the position in the log that it is of."""
        return self.get(self._at(self.model, "digest"))

    def snapshot(self) -> Request[int]:
        """Write a snapshot of all models now; return its position in the log."""
        return Request("POST", self._at(self.model, "snapshot"), itemgetter("position"))

    # -- experiments ---------------------------------------------------------------------------

    def experiments(self) -> Request[list[str]]:
        """Return the names of the experiments that run, of those that the key is for."""
        return Request("GET", "/v1/experiments", itemgetter("experiments"))

    def put_experiment(
        self, name: str, arms: Mapping[str, Row], mode: str = "ab"
    ) -> Request[dict[str, Any]]:
        """Begin an experiment: arms by name, each a model and a share; describe it."""
        sent = {"arms": {arm: dict(about) for arm, about in arms.items()}, "mode": mode}
        return Request("PUT", _experiment(name), _same, sent)

    def experiment(self, name: str) -> Request[dict[str, Any]]:
        """Tell what an experiment says so far."""
        return self.get(_experiment(name))

    def delete_experiment(self, name: str) -> Request[dict[str, Any]]:
        """End an experiment; its models stay."""
        return Request("DELETE", _experiment(name), _same)

    def get(self, path: str) -> Request[dict[str, Any]]:
        """Return what another address says, such as ``/readyz``."""
        return Request("GET", path, _same)


def _blocking(
    make: Callable[Concatenate[Any, P], Request[T]],
) -> Callable[Concatenate[Client, P], T]:
    """Return the method of the client that blocks."""

    @wraps(make)
    def call(self: Client, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._send(make(self._calls, *args, **kwargs))

    return call  # type: ignore[return-value]


def _awaited(
    make: Callable[Concatenate[Any, P], Request[T]],
) -> Callable[Concatenate[AsyncClient, P], Awaitable[T]]:
    """Return the method of the client for event loops."""

    @wraps(make)
    async def call(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(make(self._calls, *args, **kwargs))

    return call  # type: ignore[return-value]


def _http(kind: Callable[..., T], url: str, key: str | None, timeout: float, transport: Any) -> T:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return kind(base_url=url, headers=headers, timeout=timeout, transport=transport)


class Client:
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
        self._calls = _Calls(model, retries)
        self._http = _http(httpx.Client, url, key, timeout, transport)

    def _send(self, request: Request[T]) -> T:
        answer: httpx.Response | httpx.TransportError
        for attempt in count():
            try:
                answer = self._http.request(request.method, request.path, **request.options())
            except httpx.TransportError as error:
                answer = error
            if not self._calls._again(answer, attempt):
                break
            time.sleep(_pause(attempt))
        return request.read(_checked(answer))

    recommend = _blocking(_Calls.recommend)
    feedback = _blocking(_Calls.feedback)
    feedback_many = _blocking(_Calls.feedback_many)
    register_items = _blocking(_Calls.register_items)
    remove_items = _blocking(_Calls.remove_items)
    items = _blocking(_Calls.items)
    item = _blocking(_Calls.item)
    put_item = _blocking(_Calls.put_item)
    remove_item = _blocking(_Calls.remove_item)
    models = _blocking(_Calls.models)
    info = _blocking(_Calls.info)
    create_model = _blocking(_Calls.create_model)
    delete_model = _blocking(_Calls.delete_model)
    users = _blocking(_Calls.users)
    user = _blocking(_Calls.user)
    forget_user = _blocking(_Calls.forget_user)
    clusters = _blocking(_Calls.clusters)
    activity = _blocking(_Calls.activity)
    digest = _blocking(_Calls.digest)
    snapshot = _blocking(_Calls.snapshot)
    experiments = _blocking(_Calls.experiments)
    put_experiment = _blocking(_Calls.put_experiment)
    experiment = _blocking(_Calls.experiment)
    delete_experiment = _blocking(_Calls.delete_experiment)
    get = _blocking(_Calls.get)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
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
        self._calls = _Calls(model, retries)
        self._http = _http(httpx.AsyncClient, url, key, timeout, transport)

    async def _send(self, request: Request[T]) -> T:
        answer: httpx.Response | httpx.TransportError
        for attempt in count():
            try:
                answer = await self._http.request(request.method, request.path, **request.options())
            except httpx.TransportError as error:
                answer = error
            if not self._calls._again(answer, attempt):
                break
            await asyncio.sleep(_pause(attempt))
        return request.read(_checked(answer))

    recommend = _awaited(_Calls.recommend)
    feedback = _awaited(_Calls.feedback)
    feedback_many = _awaited(_Calls.feedback_many)
    register_items = _awaited(_Calls.register_items)
    remove_items = _awaited(_Calls.remove_items)
    items = _awaited(_Calls.items)
    item = _awaited(_Calls.item)
    put_item = _awaited(_Calls.put_item)
    remove_item = _awaited(_Calls.remove_item)
    models = _awaited(_Calls.models)
    info = _awaited(_Calls.info)
    create_model = _awaited(_Calls.create_model)
    delete_model = _awaited(_Calls.delete_model)
    users = _awaited(_Calls.users)
    user = _awaited(_Calls.user)
    forget_user = _awaited(_Calls.forget_user)
    clusters = _awaited(_Calls.clusters)
    activity = _awaited(_Calls.activity)
    digest = _awaited(_Calls.digest)
    snapshot = _awaited(_Calls.snapshot)
    experiments = _awaited(_Calls.experiments)
    put_experiment = _awaited(_Calls.put_experiment)
    experiment = _awaited(_Calls.experiment)
    delete_experiment = _awaited(_Calls.delete_experiment)
    get = _awaited(_Calls.get)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
