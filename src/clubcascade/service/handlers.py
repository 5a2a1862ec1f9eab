"""What each address does, once who asks and what is sent was checked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Container, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from clubcascade.core import Catalog, Feedback
from clubcascade.errors import ClubCascadeError, InvalidArgument, UnknownName, UnknownUser
from clubcascade.policies import policy_class
from clubcascade.service import describe, schemas
from clubcascade.service.arguments import DEFAULT_POLICY, Ask, made_alike, offer, sized
from clubcascade.service.decision import Decision, Outcome
from clubcascade.service.experiments import read_arms
from clubcascade.service.http import Call, Problem
from clubcascade.service.model import Model
from clubcascade.service.routes import serves
from clubcascade.service.writer import Click

if TYPE_CHECKING:
    from clubcascade.service.app import Service
    from clubcascade.service.recommender import Recommender

SAMPLED = 64
"""One list in so many is compared with the best known one, for the share explored."""
FRESH = 1.0
"""Seconds that a digest may be old: each one copies the whole model."""

V, M, E = "/v1/{model}", "/v1/models/{model}", "/v1/experiments/{experiment}"
Answer = tuple[int, Any]


class Handlers:
    """The addresses of a service; each takes a call and returns a status and an answer."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._digests: dict[str, tuple[float, tuple[int, str]]] = {}
        self._digesting = asyncio.Lock()

    def _check(self, field: str, count: int, most: int) -> None:
        if count > most:
            raise Problem(413, "too_large", f"{field} may be {most}, got {count}", field=field)

    def _model(self, call: Call) -> Model:
        """Return the model that a request is about; no word of the others."""
        shop, name = self._service.open_shop, call.params["model"]
        if name not in shop.models and name not in shop.aside:
            raise Problem(404, "not_found", f"there is no model {name!r}")
        return shop.model(name)

    def _name(self, call: Call, *, ended: bool = False) -> str:
        """Return the model or the experiment, also one that has ended, that a request is about."""
        shop, name = self._service.open_shop, call.params["model"]
        known = name in shop.experiments or (ended and name in shop.ended)
        return name if known else self._model(call).name

    # -- lists and clicks ----------------------------------------------------------------------

    @serves(
        "POST",
        V + "/recommend",
        "write",
        takes=schemas.RecommendRequest,
        tells=schemas.RecommendResponse,
    )
    async def recommend(self, call: Call) -> Answer:
        """Rank items for a user; learns nothing."""
        asked = call.read(schemas.RecommendRequest)
        name, limits = self._name(call), self._service.limits
        rows = asked.items if asked.items is not None else asked.candidates
        if rows is not None:
            self._check("items", len(rows), limits.candidates)
        if asked.k > limits.k:
            reason = f"k must be at most {limits.k}, got {asked.k}"
            raise Problem(422, "invalid", reason, field="k")
        ask = Ask(
            asked.user,
            asked.k,
            asked.items,
            asked.ids,
            asked.candidates,
            name,
            asked.request_id,
            asked.exclude_seen,
            asked.filter,
            asked.greedy,
            asked.explore,
        )
        decision = await self._service.open_shop.recommend_async(ask)
        activity, share = self._service.activity_of(decision.model), None
        if not (activity.lists % SAMPLED or decision.greedy or decision.teams):
            share = _explored(self._service.open_shop, ask, decision)
        activity.listed(share)
        return 200, schemas.RecommendResponse(
            decision.id,
            decision.items,  # type: ignore[arg-type]
            decision.scores,  # type: ignore[arg-type]
            decision.model_version,
            self._metadata(decision) if asked.metadata else UNSET,
        )

    def _metadata(self, decision: Decision) -> list[dict[str, Any] | None]:
        known = self._service.open_shop.model(decision.model).metadata
        return [known.get(each) for each in decision.items]

    @serves(
        "POST",
        V + "/feedback",
        "write",
        takes=schemas.FeedbackItem | schemas.FeedbackBatch,
        tells=schemas.FeedbackAnswer | schemas.FeedbackAnswers,
    )
    async def feedback(self, call: Call) -> Answer:
        """Learn where users clicked; durable when answered. One piece, or a batch."""
        sent = call.read(schemas.AnyFeedback)
        model = self._name(call, ended=True)  # lists may still wait when their experiment ends
        if not isinstance(sent.feedback, UnsetType):
            if not isinstance(sent.decision_id, UnsetType):
                raise Problem(422, "invalid", "feedback must stand alone", field="feedback")
            return 200, await self._many(sent.feedback, model)
        if isinstance(sent.decision_id, UnsetType):
            raise Problem(422, "invalid", "decision_id must be given", field="decision_id")
        click = click_of(sent)
        asked = [(sent.decision_id, click)]
        (outcome,) = await self._service.open_shop.feedback_async(asked, model=model)
        if isinstance(outcome, ClubCascadeError):
            raise outcome
        return 200, self._told(model, sent.decision_id, click, outcome)

    async def _many(
        self, pieces: list[schemas.FeedbackItem], model: str
    ) -> schemas.FeedbackAnswers:
        self._check("feedback", len(pieces), self._service.limits.batch)
        asked: list[tuple[str, Click] | Problem] = []
        for piece in pieces:
            try:
                asked.append((piece.decision_id, click_of(piece)))
            except (Problem, ClubCascadeError) as error:
                asked.append(error if isinstance(error, Problem) else Problem.of(error))
        good = [one for one in asked if not isinstance(one, Problem)]
        shop = self._service.open_shop
        found = iter(await shop.feedback_async(good, model=model) if good else [])
        answers = []
        for piece, one in zip(pieces, asked, strict=True):
            problem = one if isinstance(one, Problem) else None
            if not isinstance(one, Problem):
                outcome = next(found)
                if not isinstance(outcome, ClubCascadeError):
                    answers.append(self._told(model, *one, outcome))
                    continue
                problem = Problem.of(outcome)
                if problem.status >= 500:
                    raise problem
            assert problem is not None
            told = problem.body()["error"]
            answers.append(schemas.FeedbackAnswer(piece.decision_id, error=told))
        return schemas.FeedbackAnswers(answers)

    def _told(
        self, model: str, decision_id: str, click: Click, outcome: Outcome
    ) -> schemas.FeedbackAnswer:
        """Count an outcome, for the model that made the list, and say it."""
        model = self._service.open_shop.served_by(decision_id) or model
        self._service.metrics.answered(model, outcome.value)
        if outcome is Outcome.APPLIED:
            clicked = bool(click.clicks) if isinstance(click, Feedback) else click is not None
            self._service.activity_of(model).answered(clicked)
        return schemas.FeedbackAnswer(decision_id, outcome.value)

    # -- items ---------------------------------------------------------------------------------

    @serves("PUT", V + "/items", "write", takes=schemas.ItemsPut, tells=schemas.ItemsAnswer)
    async def put_items(self, call: Call) -> Answer:
        """Register items by features or by table row, or change features and metadata."""
        sent = call.read(schemas.ItemsPut)
        self._check("items", len(sent.items), self._service.limits.candidates)
        pieces: dict[Any, schemas.ItemChange] = {item.id: item for item in sent.items}
        if len(pieces) < len(sent.items):
            raise Problem(422, "invalid", "ids must be distinct, got a name twice", field="items")
        return 200, schemas.ItemsAnswer(items=await self._put(call, pieces))

    async def _put(self, call: Call, pieces: dict[Any, schemas.ItemChange]) -> int:
        model = self._model(call)
        given: dict[str, Any] = {}
        for field in ("features", "columns", "metadata"):
            values = [getattr(piece, field) for piece in pieces.values()]
            if not all(value is None for value in values):
                given[field] = values
        rows = given.pop("features", None)
        if None in (rows or given.get("columns", ())):
            reason = "items must all have features, or all columns, or all metadata alone"
            raise Problem(422, "invalid", reason, field="items")
        lengths = {len(row) for row in rows or ()}
        if len(lengths) > 1:
            raise Problem(422, "invalid", "features must all have one length", field="items")
        self._check("features", max(lengths, default=0), self._service.limits.features)
        put = partial(self._service.open_shop.register_items, model=model.name, **given)
        return await asyncio.to_thread(put, list(pieces), rows)

    @serves("DELETE", V + "/items", "write", takes=schemas.ItemsDelete, tells=schemas.ItemsAnswer)
    async def delete_items(self, call: Call) -> Answer:
        """Remove items."""
        sent = call.read(schemas.ItemsDelete)
        self._check("ids", len(sent.ids), self._service.limits.candidates)
        return 200, await self._remove(call, list(dict.fromkeys(sent.ids)))

    async def _remove(self, call: Call, ids: list[Any]) -> schemas.ItemsAnswer:
        model = self._model(call)
        remove = partial(self._service.open_shop.remove_items, ids, model=model.name)
        return schemas.ItemsAnswer(removed=await asyncio.to_thread(remove))

    @serves("GET", M + "/items", "read", tells=schemas.ItemPage, pages=True)
    async def items(self, call: Call) -> Answer:
        """The registered items, a page at a time."""
        model = self._model(call)
        catalog, metadata = model.catalog, model.metadata
        if catalog is None:
            call.page()
            return 200, schemas.ItemPage([], 0)
        rows, total = await _found(call, catalog.ids, metadata)
        ids = [catalog.ids[row] for row in rows]
        told = zip(ids, catalog._rows[rows].tolist(), map(metadata.get, ids), strict=True)
        found = [schemas.Item(*each) for each in told]  # type: ignore[arg-type]
        return 200, schemas.ItemPage(found, total)

    def _item(self, call: Call) -> Any:
        """Return the id that an address names: a str, or an int that is registered."""
        catalog = self._model(call).catalog
        return _id(call.params["item"], {} if catalog is None else catalog._index)

    @serves("GET", M + "/items/{item}", "read", tells=schemas.Item)
    async def get_item(self, call: Call) -> Answer:
        """One item."""
        model, name = self._model(call), self._item(call)
        catalog = model.catalog
        if catalog is None or name not in catalog._index:
            raise Problem(404, "not_found", f"there is no item {name!r}")
        row = catalog._rows[catalog.index(name)].tolist()
        return 200, schemas.Item(name, row, model.metadata.get(name))

    @serves(
        "PUT", M + "/items/{item}", "write", takes=schemas.ItemChange, tells=schemas.ItemsAnswer
    )
    async def put_item(self, call: Call) -> Answer:
        """Register one item, or change it."""
        piece = call.read(schemas.ItemChange)
        return 200, schemas.ItemsAnswer(items=await self._put(call, {self._item(call): piece}))

    @serves("DELETE", M + "/items/{item}", "write", tells=schemas.ItemsAnswer)
    async def delete_item(self, call: Call) -> Answer:
        """Remove one item."""
        return 200, await self._remove(call, [self._item(call)])

    # -- models --------------------------------------------------------------------------------

    @serves("GET", "/v1/models", "read", tells=schemas.ModelList)
    async def models(self, call: Call) -> Answer:
        """The models of this key."""
        names = self._service.open_shop.models
        return 200, schemas.ModelList([name for name in names if call.key.sees(name)])

    @serves("GET", M, "read", tells=schemas.ModelInfo)
    async def get_model(self, call: Call) -> Answer:
        """Describe a model."""
        return 200, describe.model_info(self._model(call))

    @serves("PUT", M, "admin", takes=schemas.ModelPut, tells=schemas.ModelInfo, file=True)
    async def put_model(self, call: Call) -> Answer:
        """Make a model, by parameters or of a file of `clubcascade train`; 200 if it exists so."""
        name, shop = call.params["model"], self._service.open_shop
        if name in ("models", "experiments"):
            raise Problem(422, "invalid", f"model must not be named {name!r}", field="model")
        if name in shop.experiments:
            raise Problem(409, "conflict", f"{name!r} is an experiment")
        made: dict[str, Any] = {"trained": call.body}
        if not call.binary:
            sent = call.read(schemas.ModelPut)
            self._check("n_features", sent.n_features or 0, self._service.limits.features)
            made = {"policy": await asyncio.to_thread(_make, sent), "explore": sent.explore}
        if name in shop.models:
            kept = shop.model(name).policy
            same = (
                "policy" in made
                and made_alike(kept, made["policy"])
                and made["explore"] == shop.model(name).explore
            )
            if not same and not (call.binary and shop.is_made_of(name, call.body)):
                raise Problem(409, "conflict", f"model {name!r} exists and is {kept!r}")
            return 200, describe.model_info(shop.model(name))
        if len(shop.models) >= self._service.limits.models:
            most = self._service.limits.models
            raise Problem(422, "too_large", f"a service may have {most} models")
        await asyncio.to_thread(partial(shop.create_model, name, **made))
        return 201, describe.model_info(shop.model(name))

    @serves("DELETE", M, "admin", tells=schemas.Forgotten)
    async def delete_model(self, call: Call) -> Answer:
        """Delete a model; its events stay in the log."""
        shop, name = self._service.open_shop, call.params["model"]
        if name not in shop.models and name not in shop.aside:
            raise Problem(404, "not_found", f"there is no model {name!r}")
        await asyncio.to_thread(shop.delete_model, name)
        return 200, schemas.Forgotten(shop.position)

    @serves("GET", M + "/digest", "read", tells=schemas.Digest)
    async def digest(self, call: Call) -> Answer:
        """SHA-256 of the model at a position in the log, the same on all servers."""
        model, shop = self._model(call), self._service.open_shop
        async with self._digesting:
            at, found = self._digests.get(model.name, (0.0, (-1, "")))
            if found[0] != shop.position and time.monotonic() - at > FRESH:
                found = await asyncio.to_thread(shop.digest_at, model.name)
                self._digests[model.name] = (time.monotonic(), found)
        return 200, schemas.Digest(model.name, found[1], model.version, found[0])

    @serves("POST", M + "/snapshot", "admin", tells=schemas.Snapshot)
    async def snapshot(self, call: Call) -> Answer:
        """Write a snapshot of all models now."""
        self._model(call)
        return 200, schemas.Snapshot(await asyncio.to_thread(self._service.open_shop.snapshot))

    # -- experiments ---------------------------------------------------------------------------

    @serves("GET", "/v1/experiments", "read", tells=schemas.ExperimentList)
    async def experiments(self, call: Call) -> Answer:
        """The experiments that run, and the last that ended, of this key."""
        shop, sees = self._service.open_shop, call.key.sees
        return 200, schemas.ExperimentList(
            [*filter(sees, shop.experiments)], [*filter(sees, shop.ended)]
        )

    @serves("PUT", E, "admin", takes=schemas.ExperimentPut, tells=schemas.ExperimentInfo)
    async def put_experiment(self, call: Call) -> Answer:
        """Begin an experiment: users are assigned to models. 200 if it runs with these arms."""
        sent = call.read(schemas.ExperimentPut)
        name, shop = call.params["experiment"], self._service.open_shop
        if name in ("items", "models", "experiments"):
            raise Problem(422, "invalid", f"experiment must not be named {name!r}", field="name")
        for arm in sent.arms.values():
            if not call.key.may("admin", arm.model):
                raise Problem(403, "forbidden", f"the key is not for model {arm.model!r}")
            if arm.model not in shop.models:
                raise Problem(404, "not_found", f"there is no model {arm.model!r}")
        arms = {key: (arm.model, arm.share, arm.explore) for key, arm in sent.arms.items()}
        running = shop.experiments.get(name)
        if running is not None or name in shop.models:
            models = {arm.model: shop.model(arm.model) for arm in sent.arms.values()}
            wanted = (sent.mode, read_arms(arms, sent.mode, models))
            if running is None or (running.put.mode, running.put.arms) != wanted:
                reason = f"{name!r} is a model, or an experiment with other arms"
                raise Problem(409, "conflict", reason, hint="Delete it first.")
            return 200, await asyncio.to_thread(shop.experiment, name)
        if len(shop.experiments) >= self._service.limits.models:
            most = self._service.limits.models
            raise Problem(422, "too_large", f"a service may have {most} experiments")
        await asyncio.to_thread(shop.create_experiment, name, arms, mode=sent.mode)
        return 201, await asyncio.to_thread(shop.experiment, name)

    @serves("GET", E, "read", tells=schemas.ExperimentInfo)
    async def get_experiment(self, call: Call) -> Answer:
        """What an experiment says so far, or said when it ended; look whenever you like."""
        shop, name = self._service.open_shop, call.params["experiment"]
        _need(name, shop.ended | shop.experiments)
        return 200, await asyncio.to_thread(shop.experiment, name)

    @serves("DELETE", E, "admin", tells=schemas.Forgotten)
    async def delete_experiment(self, call: Call) -> Answer:
        """End an experiment; its models stay."""
        shop, name = self._service.open_shop, call.params["experiment"]
        _need(name, shop.experiments)
        await asyncio.to_thread(shop.delete_experiment, name)
        return 200, schemas.Forgotten(shop.position)

    # -- users ---------------------------------------------------------------------------------

    @serves("GET", M + "/users", "read", tells=schemas.UserPage, pages=True)
    async def users(self, call: Call) -> Answer:
        """The users that the model has met, a page at a time."""
        known = list(getattr(self._model(call).policy, "users", None) or [])
        rows, total = await _found(call, known)
        told = [known[row] for row in rows]
        return 200, schemas.UserPage(
            [u if isinstance(u, str | int) else str(u) for u in told], total
        )

    def _user(self, call: Call) -> Any:
        known = getattr(self._model(call).policy, "_numbers", {})
        return _id(call.params["user"], known)

    @serves("GET", M + "/users/{user}", "read", tells=schemas.UserCard)
    async def user(self, call: Call) -> Answer:
        """A user: counts, cluster, next list with scores."""
        model, user = self._model(call), self._user(call)
        numbers = self._service.activity_of(model.name).number
        card = await asyncio.to_thread(describe.user_card, model, user, 10, numbers)
        if not card.known:
            raise UnknownUser(f"user must be one that the model has met, got {user!r}")
        return 200, card

    @serves("DELETE", M + "/users/{user}", "admin", tells=schemas.Forgotten)
    async def delete_user(self, call: Call) -> Answer:
        """Forget a user: the model is made anew without them, their events are unreadable."""
        shop, name, text = self._service.open_shop, call.params["model"], call.params["user"]
        users: set[Any] = {text}
        if name in shop.models:
            users = {self._user(call)}
        elif text.isascii() and text.isdecimal() and len(text) < 19:  # of a deleted model
            users.add(int(text))
        position = 0
        try:
            for user in users:
                forget = partial(shop.forget_user, user, model=name)
                position = max(position, await asyncio.to_thread(forget))
        except UnknownName:
            raise Problem(404, "not_found", f"there is no model {name!r}") from None
        return 200, schemas.Forgotten(position)

    @serves("GET", M + "/clusters", "read", tells=schemas.Clusters)
    async def clusters(self, call: Call) -> Answer:
        """Who is alike, and their taste."""
        model = self._model(call)
        numbers = self._service.activity_of(model.name).number
        return 200, await asyncio.to_thread(describe.clusters, model, numbers)

    @serves("GET", M + "/activity", "read")
    async def activity(self, call: Call) -> Answer:
        """The last minutes, for the page /ui."""
        model, shop, metrics = self._model(call), self._service.open_shop, self._service.metrics
        mine = {o: n for (m, o), n in metrics.outcomes.items() if m == model.name}
        shares = {"p50": 0.5, "p99": 0.99}
        return 200, self._service.activity_of(model.name).tell() | {
            "outcomes": mine,
            "waiting": await asyncio.to_thread(getattr, shop, "waiting"),
            "server": shop.server,
            "position": shop.position,
            "counters": dict(model.counters),
            "latency": {
                name: {key: metrics.quantile(name, share) for key, share in shares.items()}
                for name in ("recommend", "feedback")
            },
        }

    # -- the service itself --------------------------------------------------------------------

    @serves("GET", "/healthz", None)
    async def healthz(self, call: Call) -> Answer:
        """Whether the process lives."""
        return 200, {"status": "alive"}

    @serves("GET", "/readyz", None)
    async def readyz(self, call: Call) -> Answer:
        """Whether feedback can be taken."""
        shop = self._service.open_shop
        if shop.problem is not None:
            raise Problem(503, "unavailable", shop.problem)
        return 200, {
            "status": "ready",
            "server": shop.server,
            "position": shop.position,
            "notes": shop.notes,
            "aside": len(shop.aside),
            "snapshot": shop.snapshot_problem,
        }

    @serves("GET", "/metrics", "read")
    async def tell_metrics(self, call: Call) -> Answer:
        """Counters and latencies for Prometheus."""
        shop = self._service.open_shop
        waiting = await asyncio.to_thread(getattr, shop, "waiting")
        lag = await asyncio.to_thread(getattr, shop, "lag")
        failed = shop.snapshot_problem is not None
        gauges: list[tuple[str, str, dict[str, str], float]] = [
            ("clubcascade_ready", "Whether feedback can be taken.", {}, shop.problem is None),
            ("clubcascade_server", "Number of this server on its store.", {}, shop.server),
            ("clubcascade_position", "Position in the log.", {}, shop.position),
            ("clubcascade_lag", "Events of the log that are not learned yet.", {}, lag),
            ("clubcascade_waiting", "Decisions without an answer.", {}, waiting),
            ("clubcascade_backlog", "Work queued for the writer.", {}, shop.backlog),
            ("clubcascade_commits", "Commits since the start.", {}, shop.commits),
            ("clubcascade_aside", "Models that cannot be read.", {}, len(shop.aside)),
            ("clubcascade_snapshot_failed", "Whether the last snapshot failed.", {}, failed),
        ]
        for name in filter(call.key.sees, shop.models):
            for counter, value in shop.model(name).counters.items():
                labels = {"model": name, "counter": counter}
                gauges.append(("clubcascade_model", "Counters of a model.", labels, value))
        return 200, self._service.metrics.text(gauges, call.key.sees)


def click_of(piece: schemas.FeedbackItem) -> Click:
    """Return the feedback of a piece of JSON."""
    if not isinstance(piece.click, UnsetType):
        if not isinstance(piece.examined, UnsetType) or not isinstance(piece.clicks, UnsetType):
            raise Problem(422, "invalid", "click must stand alone", field="click")
        return piece.click
    if isinstance(piece.examined, UnsetType) or isinstance(piece.clicks, UnsetType):
        reason = "click must be given, null for no click; or examined and clicks"
        raise Problem(422, "invalid", reason, field="click")
    return Feedback(piece.examined, tuple(piece.clicks))


async def _found(
    call: Call, names: Sequence[Any], metadata: Mapping[Any, Any] = MappingProxyType({})
) -> tuple[list[int], int]:
    """Return the page of places that is asked for, of all that have the text in them."""
    start, limit, text = call.page()
    if not text:
        return list(range(len(names))[start : start + limit]), len(names)

    def fits(name: Any) -> bool:
        told = [str(name), *describe.texts(metadata.get(name))]
        return any(text in one.casefold() for one in told)

    rows = await asyncio.to_thread(lambda: [row for row in range(len(names)) if fits(names[row])])
    return rows[start : start + limit], len(rows)


def _id(text: str, known: Any) -> str | int:
    """Return an id that stands in an address: the text, or the number if that one is known."""
    whole = text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 19
    return int(text) if text not in known and whole and int(text) in known else text


def _need(name: str, experiments: Container[str]) -> None:
    if name not in experiments:
        raise Problem(404, "not_found", f"there is no experiment {name!r}")


def _explored(shop: Recommender, ask: Ask, decision: Decision) -> float | None:
    shown = decision.items
    try:
        model = shop.model(decision.model)
        offered, names = offer(model, ask)
    except ClubCascadeError:
        return None
    if isinstance(offered, Catalog):
        rows = {offered.index(name) for name in shown if name in offered._index}
    else:
        wanted = set(shown)
        rows = {row for row, name in enumerate(names) if name in wanted}
    return describe.explored(model, ask.user, offered, rows)


def _make(sent: schemas.ModelPut) -> Any:
    """Make a policy from what a client sent; whatever is wrong with it is the client's."""
    kind = policy_class(sent.policy or DEFAULT_POLICY)
    params = dict(sent.params)
    if sent.n_features is not None:
        params["n_features"] = sent.n_features
    try:
        return kind(**sized(kind, params))
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
