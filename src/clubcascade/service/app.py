"""The service over HTTP: addresses, and what each of them does with the recommender."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router

from clubcascade.core import Catalog, Feedback
from clubcascade.errors import ClubCascadeError, InvalidArgument, UnknownUser
from clubcascade.policies import policy_class
from clubcascade.service import looks, openapi, schemas
from clubcascade.service.asking import Ask, offer
from clubcascade.service.guard import Guard, Receive, Scope
from clubcascade.service.keys import Key, KeyFile
from clubcascade.service.making import DEFAULT_POLICY, made_alike
from clubcascade.service.metrics import Metrics
from clubcascade.service.model import Model
from clubcascade.service.pages import DOCS, PAGE
from clubcascade.service.problems import Problem
from clubcascade.service.pulse import Pulse
from clubcascade.service.recommender import Recommender
from clubcascade.service.settings import Limits

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

SAMPLED = 32
"""One list in so many is compared with the best known one, for the share explored."""

_log = logging.getLogger("clubcascade.service")
_encode = msgspec.json.Encoder().encode
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


class Either(schemas.FeedbackItem):
    """A piece of feedback, or a batch of them."""

    decision_id: str | msgspec.UnsetType = msgspec.UNSET  # type: ignore[assignment]
    feedback: list[schemas.FeedbackItem] | msgspec.UnsetType = msgspec.UNSET


class Call:
    """One request: who asks, of which model, with what."""

    __slots__ = ("body", "key", "params", "scope")

    def __init__(self, scope: Scope, key: Key, body: bytes) -> None:
        self.scope, self.key, self.body = scope, key, body
        self.params: dict[str, str] = scope["path_params"]

    def read(self, kind: type[T]) -> T:
        """Return the body as a type; raise if it is none."""
        return read(self.body, kind)


Handler = Callable[[Call], Awaitable[tuple[int, Any]]]


class Endpoint:
    """An address and method: checks who asks, reads the body, times the answer."""

    def __init__(self, service: Service, name: str, role: str | None, handler: Handler) -> None:
        self.service, self.name, self.role, self.handler = service, name, role, handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = time.perf_counter()
        status, answer = await self._answer(scope, receive)
        self.service.metrics.took(self.name, status, time.perf_counter() - started)
        await respond(send, status, answer)

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, Any]:
        try:
            key = None
            if self.role is not None:
                model = scope["path_params"].get("model")
                key = self.service.guard.admit(scope, self.role, model)
                if self.service.shop is None:
                    raise Problem(503, "starting", self.service.state)
            body = b""
            if scope["method"] not in ("GET", "HEAD"):
                body = await self.service.guard.body(scope, receive)
            return await self.handler(Call(scope, key or _NOBODY, body))
        except (Problem, ClubCascadeError) as error:
            problem = error if isinstance(error, Problem) else Problem.of(error)
            return problem.status, problem.body()
        except Exception as error:
            _log.exception("%s failed", self.name)
            return 500, Problem(500, "internal", f"{type(error).__name__} in the service").body()


_NOBODY = Key("", "", "read", ())


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
        self._hot = {
            name: Endpoint(self, name, "write", handler)
            for name, handler in (("recommend", self.recommend), ("feedback", self.feedback))
        }
        self._router = Router(routes=self._routes(), default=self._nowhere)

    def _routes(self) -> list[Route]:
        model = "/v1/models/{model}"
        table: list[tuple[str, str, str, str | None, Handler]] = [
            ("POST", "/v1/{model}/recommend", "recommend", "write", self.recommend),
            ("POST", "/v1/{model}/feedback", "feedback", "write", self.feedback),
            ("GET", "/healthz", "healthz", None, self.healthz),
            ("GET", "/readyz", "readyz", None, self.readyz),
            ("GET", "/metrics", "metrics", "read", self.tell_metrics),
            ("GET", "/openapi.json", "openapi", None, self.openapi),
            ("GET", "/docs", "docs", None, partial(self.page, DOCS)),
            ("GET", "/ui", "ui", None, partial(self.page, PAGE)),
            ("GET", "/v1/models", "models", "read", self.models),
            ("PUT", model, "put_model", "admin", self.put_model),
            ("GET", model, "get_model", "read", self.get_model),
            ("GET", model + "/users/{user:path}", "user", "read", self.user),
            ("GET", model + "/clusters", "clusters", "read", self.clusters),
            ("GET", model + "/digest", "digest", "read", self.digest),
            ("GET", model + "/pulse", "pulse", "read", self.pulse),
            ("POST", model + "/snapshot", "snapshot", "admin", self.snapshot),
            ("PUT", "/v1/{model}/items", "put_items", "write", self.put_items),
            ("DELETE", "/v1/{model}/items", "delete_items", "write", self.delete_items),
        ]
        by_path: dict[str, dict[str, Endpoint]] = {}
        for method, path, name, role, handler in table:
            by_path.setdefault(path, {})[method] = Endpoint(self, name, role, handler)
        return [
            Route(path, _Methods(ways), methods=list(ways), include_in_schema=False)
            for path, ways in by_path.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the start and the end of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        parts = scope["path"].split("/")
        if len(parts) == 4 and parts[1] == "v1" and scope["method"] == "POST":
            hot = self._hot.get(parts[3])
            if hot is not None and parts[2]:  # what the router would do, in a tenth of the time
                scope["path_params"] = {"model": parts[2]}
                await hot(scope, receive, send)
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
            await asyncio.to_thread(_warm, shop)
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
            for name in () if shop is None else shop.models:
                assert shop is not None
                await asyncio.to_thread(self._pulse_of(name).look, shop.model(name))

    def _pulse_of(self, name: str) -> Pulse:
        pulse = self._pulses.get(name)
        if pulse is None:
            pulse = self._pulses[name] = Pulse()
        return pulse

    @property
    def _open(self) -> Recommender:
        if self.shop is None:
            raise Problem(503, "starting", self.state)
        return self.shop

    def _model(self, call: Call) -> Model:
        return self._open.model(call.params["model"])

    # -- lists and clicks ----------------------------------------------------------------------

    async def recommend(self, call: Call) -> tuple[int, Any]:
        """Rank items for a user."""
        asked = call.read(schemas.RecommendRequest)
        model = self._model(call)
        rows = asked.items if asked.items is not None else asked.candidates
        check_count("items", len(rows or ()), self.limits.candidates)
        ask = Ask(
            asked.user,
            asked.k,
            asked.items,
            asked.ids,
            asked.candidates,
            model.name,
            asked.request_id,
        )
        decision = await self._open.recommend_async(ask)
        pulse = self._pulse_of(model.name)
        share = None if pulse.lists % SAMPLED else self._explored(model, ask, decision.items)
        pulse.listed(share)
        return 200, {
            "decision_id": decision.id,
            "items": decision.items,
            "scores": decision.scores,
            "model_version": decision.model_version,
        }

    def _explored(self, model: Model, ask: Ask, shown: tuple[Any, ...]) -> float | None:
        try:
            offered, names = offer(model, ask)
        except ClubCascadeError:
            return None
        if isinstance(offered, Catalog):
            rows = {offered.index(name) for name in shown if name in offered._index}
        else:
            wanted = set(shown)
            rows = {row for row, name in enumerate(names) if name in wanted}
        return looks.explored(model, ask.user, offered, rows)

    async def feedback(self, call: Call) -> tuple[int, Any]:
        """Learn from clicks: one or many, an answer for each."""
        sent = call.read(Either)
        name = self._model(call).name
        single = isinstance(sent.feedback, msgspec.UnsetType)
        if single and isinstance(sent.decision_id, msgspec.UnsetType):
            raise Problem(422, "invalid", "decision_id must be given", field="decision_id")
        if not single and not isinstance(sent.decision_id, msgspec.UnsetType):
            raise Problem(422, "invalid", "feedback must stand alone", field="feedback")
        pieces: list[schemas.FeedbackItem] = [sent] if single else sent.feedback  # type: ignore[assignment]
        check_count("feedback", len(pieces), self.limits.batch)
        clicks: list[Any] = []
        for piece in pieces:
            try:
                clicks.append((piece.decision_id, click_of(piece)))
            except (Problem, ClubCascadeError) as error:
                clicks.append(error if isinstance(error, Problem) else Problem.of(error))
        good = [click for click in clicks if not isinstance(click, Problem)]
        found = iter(await self._open.feedback_async(good, model=name) if good else ())
        answers = [self._told(p, c, found, name) for p, c in zip(pieces, clicks, strict=True)]
        if not single:
            return 200, schemas.FeedbackAnswers(answers)
        (answer,) = answers
        if answer.error is not None:
            return 422, {"error": answer.error}
        return 200, answer

    def _told(
        self, piece: schemas.FeedbackItem, click: Any, found: Any, model: str
    ) -> schemas.FeedbackAnswer:
        if isinstance(click, Problem):
            return schemas.FeedbackAnswer(piece.decision_id, error=click.body()["error"])
        outcome = next(found)
        if isinstance(outcome, ClubCascadeError):
            problem = Problem.of(outcome)
            if problem.status >= 500:
                raise problem
            return schemas.FeedbackAnswer(piece.decision_id, error=problem.body()["error"])
        self.metrics.outcomes[model, str(outcome)] += 1
        if outcome == "applied":
            given = click[1]
            clicked = bool(given.clicks) if isinstance(given, Feedback) else given is not None
            self._pulse_of(model).answered(clicked)
        return schemas.FeedbackAnswer(piece.decision_id, str(outcome))

    # -- items and models ----------------------------------------------------------------------

    async def put_items(self, call: Call) -> tuple[int, Any]:
        """Register items."""
        sent = call.read(schemas.ItemsPut)
        model = self._model(call)
        check_count("items", len(sent.items), self.limits.candidates)
        wanted = len(sent.items[0].features)
        if any(len(item.features) != wanted for item in sent.items):
            raise Problem(422, "invalid", "features must all have one length", field="items")
        put = partial(
            self._open.register_items,
            [item.id for item in sent.items],
            [item.features for item in sent.items],
            model=model.name,
        )
        return 200, schemas.ItemsAnswer(items=await asyncio.to_thread(put))

    async def delete_items(self, call: Call) -> tuple[int, Any]:
        """Remove items."""
        sent = call.read(schemas.ItemsDelete)
        model = self._model(call)
        check_count("ids", len(sent.ids), self.limits.candidates)
        remove = partial(self._open.remove_items, list(dict.fromkeys(sent.ids)), model=model.name)
        return 200, schemas.ItemsAnswer(removed=await asyncio.to_thread(remove))

    async def models(self, call: Call) -> tuple[int, Any]:
        """List the models that the key is for."""
        return 200, schemas.ModelList([name for name in self._open.models if call.key.sees(name)])

    async def put_model(self, call: Call) -> tuple[int, Any]:
        """Make a model; one that exists with these parameters is left as it is."""
        sent = call.read(schemas.ModelPut)
        name, shop = call.params["model"], self._open
        if name == "models":
            raise Problem(422, "invalid", "model must not be named 'models'", field="model")
        policy = await asyncio.to_thread(_make, sent)
        if name in shop.models:
            kept = shop.model(name).policy
            if not made_alike(kept, policy):
                raise Problem(409, "conflict", f"model {name!r} exists and is {kept!r}")
            return 200, looks.model_info(shop.model(name))
        if len(shop.models) >= self.limits.models:
            raise Problem(422, "too_large", f"a service may have {self.limits.models} models")
        await asyncio.to_thread(shop.create_model, name, policy)
        return 201, looks.model_info(shop.model(name))

    async def get_model(self, call: Call) -> tuple[int, Any]:
        """Describe a model."""
        return 200, looks.model_info(self._model(call))

    async def user(self, call: Call) -> tuple[int, Any]:
        """Describe a user."""
        model, name = self._model(call), call.params["user"]
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
        return 200, await asyncio.to_thread(looks.clusters, self._model(call))

    async def digest(self, call: Call) -> tuple[int, Any]:
        """Return the digest of a model."""
        model = self._model(call)
        digest = await asyncio.to_thread(self._open.digest, model.name)
        return 200, schemas.Digest(model.name, digest, model.version)

    async def snapshot(self, call: Call) -> tuple[int, Any]:
        """Write a snapshot of all models."""
        self._model(call)
        return 200, schemas.Snapshot(await asyncio.to_thread(self._open.snapshot))

    async def pulse(self, call: Call) -> tuple[int, Any]:
        """Tell the last minutes of a model, for the page."""
        model, shop = self._model(call), self._open
        mine = {o: n for (m, o), n in self.metrics.outcomes.items() if m == model.name}
        shares = {"p50": 0.5, "p99": 0.99}
        return 200, self._pulse_of(model.name).tell() | {
            "outcomes": mine,
            "waiting": shop.waiting,
            "counters": dict(model.counters),
            "latency": {
                name: {key: self.metrics.quantile(name, share) for key, share in shares.items()}
                for name in ("recommend", "feedback")
            },
        }

    # -- the service itself --------------------------------------------------------------------

    async def healthz(self, call: Call) -> tuple[int, Any]:
        """Tell that the process lives."""
        return 200, {"status": "alive"}

    async def readyz(self, call: Call) -> tuple[int, Any]:
        """Tell whether the service can take feedback: recovered, and able to write."""
        if self.shop is None:
            raise Problem(503, "starting", self.state)
        if self.shop.problem is not None:
            raise Problem(503, "unavailable", self.shop.problem)
        return 200, {"status": "ready", "notes": self.shop.notes}

    async def tell_metrics(self, call: Call) -> tuple[int, Any]:
        """Tell counters and latencies; of the models that the key is for."""
        shop = self._open
        gauges: list[tuple[str, str, dict[str, str], float]] = [
            ("clubcascade_ready", "Whether feedback can be taken.", {}, shop.problem is None),
            ("clubcascade_waiting", "Decisions without an answer.", {}, shop.waiting),
            ("clubcascade_backlog", "Work queued for the writer.", {}, shop.backlog),
            ("clubcascade_commits", "Commits since the start.", {}, shop.commits),
        ]
        for name in filter(call.key.sees, shop.models):
            for counter, value in shop.model(name).counters.items():
                labels = {"model": name, "counter": counter}
                gauges.append(("clubcascade_model", "Counters of a model.", labels, value))
        return 200, self.metrics.text(gauges, call.key.sees)

    async def openapi(self, call: Call) -> tuple[int, Any]:
        """Return the OpenAPI document."""
        return 200, openapi.document()

    async def page(self, text: str, call: Call) -> tuple[int, Any]:
        """Return a page."""
        return 200, Html(text)


class Html(str):
    """Text that is HTML."""


class _Methods:
    """The endpoints of one address, by method."""

    def __init__(self, ways: dict[str, Endpoint]) -> None:
        self._ways = ways

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._ways[method](scope, receive, send)


async def respond(
    send: Send, status: int, answer: Any, headers: dict[str, str] | None = None
) -> None:
    """Send an answer: JSON, a page or plain text."""
    if isinstance(answer, Html):
        kind, body = b"text/html; charset=utf-8", answer.encode()
    elif isinstance(answer, str):
        kind, body = b"text/plain; version=0.0.4; charset=utf-8", answer.encode()
    else:
        kind, body = b"application/json", _encode(answer)
    sent = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    if status in (401,):
        sent.append((b"www-authenticate", b"Bearer"))
    if status in (429, 503):
        sent.append((b"retry-after", b"1"))
    if isinstance(answer, Html):
        sent.append((b"content-security-policy", b"default-src 'self' 'unsafe-inline'"))
    for name, value in (headers or {}).items():
        sent.append((name.encode(), value.encode()))
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})


def read(body: bytes, kind: type[T]) -> T:
    """Return JSON as a type; raise a problem that names the field."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    try:
        found: T = decoder.decode(body)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        field = path.rstrip("`").lstrip(".") or None
        raise Problem(422, "invalid", reason, field=field) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Problem(400, "malformed", f"the body is no JSON: {reason}") from None
    return found


def check_count(field: str, count: int, most: int) -> None:
    """Raise if there is more of something than one request may have."""
    if count > most:
        raise Problem(413, "too_large", f"{field} may be {most}, got {count}", field=field)


def click_of(piece: schemas.FeedbackItem) -> int | None | Feedback:
    """Return the feedback of a piece of JSON."""
    unset = msgspec.UnsetType
    if not isinstance(piece.click, unset):
        if not isinstance(piece.examined, unset) or not isinstance(piece.clicks, unset):
            raise Problem(422, "invalid", "click must stand alone", field="click")
        return piece.click
    if isinstance(piece.examined, unset) or isinstance(piece.clicks, unset):
        raise Problem(
            422,
            "invalid",
            "click must be given, null for no click; or examined and clicks",
            field="click",
        )
    return Feedback(piece.examined, tuple(piece.clicks))


def _make(sent: schemas.ModelPut) -> Any:
    """Make a policy from what a client sent; whatever is wrong with it is the client's."""
    kind = policy_class(sent.policy or DEFAULT_POLICY)
    params = dict(sent.params)
    if sent.n_features is not None:
        params["n_features"] = sent.n_features
    try:
        return kind(**params)
    except InvalidArgument:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, MemoryError) as error:
        raise Problem(
            422,
            "invalid",
            f"params must fit {kind.__name__}, got {type(error).__name__}: {error}"[:300],
            field="params",
            hint="`clubcascade list` shows the policies and their parameters.",
        ) from None


def _warm(shop: Recommender) -> None:
    """Load what the first request would wait for."""
    for name in shop.models:
        policy = shop.model(name).policy
        d = policy.n_features
        if d is None:
            continue
        fresh = policy.fresh()
        rows = [[0.0] * d, [0.0] * d]
        user = next(iter(getattr(fresh, "users", None) or ["warm"]))
        try:
            fresh.update(user, rows, 0)
            fresh.recommend(user, rows, 1)
            fresh.recommend(user, Catalog(rows), 1)
        except ClubCascadeError:
            continue
