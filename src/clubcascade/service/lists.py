"""Lists and clicks over HTTP: the two addresses that matter, answered without a detour."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UnsetType

from clubcascade.core import Catalog, Feedback
from clubcascade.errors import ClubCascadeError
from clubcascade.service import looks, schemas
from clubcascade.service.asking import Ask, offer
from clubcascade.service.decision import Decision, Outcome
from clubcascade.service.endpoint import Call, Reply, check_count
from clubcascade.service.model import Model
from clubcascade.service.plan import Answered, Click
from clubcascade.service.problems import Problem
from clubcascade.service.ticket import Ticket

if TYPE_CHECKING:
    from clubcascade.service.app import Service

SAMPLED = 64
"""One list in so many is compared with the best known one, for the share explored."""


Asked = tuple[str, Click]
"""A decision's id, and where the user clicked."""


class Either(schemas.FeedbackItem):
    """A piece of feedback, or a batch of them."""

    decision_id: str | UnsetType = msgspec.UNSET  # type: ignore[assignment]
    feedback: list[schemas.FeedbackItem] | UnsetType = msgspec.UNSET


class Lists:
    """What ``recommend`` and ``feedback`` do with the recommender."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._later: set[asyncio.Task[None]] = set()

    # -- lists ---------------------------------------------------------------------------------

    def recommend(self, call: Call, reply: Reply) -> None:
        """Rank items for a user."""
        asked = call.read(schemas.RecommendRequest)
        shop = self._service.open_shop
        model = shop.model(call.params["model"])
        rows = asked.items if asked.items is not None else asked.candidates
        if rows is not None:
            check_count("items", len(rows), self._service.limits.candidates)
        ask = Ask(
            asked.user,
            asked.k,
            asked.items,
            asked.ids,
            asked.candidates,
            model.name,
            asked.request_id,
        )
        decision = shop.recommend_at_once(ask)
        if decision is not None:
            self._tell(model, ask, decision, reply)
            return
        task = asyncio.get_running_loop().create_task(self._recommend(model, ask, reply))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _recommend(self, model: Model, ask: Ask, reply: Reply) -> None:
        """Wait for the disk, or for a look at another machine."""
        try:
            decision = await self._service.open_shop.recommend_async(ask)
            self._tell(model, ask, decision, reply)
        except Exception as error:
            reply(500, error)

    def _tell(self, model: Model, ask: Ask, decision: Decision, reply: Reply) -> None:
        pulse = self._service.pulse_of(model.name)
        share = None if pulse.lists % SAMPLED else _explored(model, ask, decision.items)
        pulse.listed(share)
        told = schemas.RecommendResponse(
            decision.id,
            decision.items,  # type: ignore[arg-type]
            decision.scores,  # type: ignore[arg-type]
            decision.model_version,
        )
        reply(200, told)

    # -- clicks --------------------------------------------------------------------------------

    def feedback(self, call: Call, reply: Reply) -> None:
        """Learn from clicks: one or many, an answer for each."""
        sent = call.read(Either)
        shop = self._service.open_shop
        model = shop.model(call.params["model"]).name
        if not isinstance(sent.feedback, UnsetType):
            if not isinstance(sent.decision_id, UnsetType):
                raise Problem(422, "invalid", "feedback must stand alone", field="feedback")
            self._many(sent.feedback, model, reply)
            return
        if isinstance(sent.decision_id, UnsetType):
            raise Problem(422, "invalid", "decision_id must be given", field="decision_id")
        asked = (sent.decision_id, click_of(sent))
        shop.feedback_soon([asked], partial(self._answered, model, asked, reply), model=model)

    def _answered(self, model: str, asked: Asked, reply: Reply, ticket: Ticket) -> None:
        """Tell what became of one click, now that it is durable."""
        try:
            if ticket.error is not None:
                raise ticket.error
            (outcome,) = ticket.answer
            if isinstance(outcome, ClubCascadeError):
                raise outcome
            told = self._told(model, asked, outcome)
        except Exception as error:
            reply(500, error)
            return
        reply(200, told)

    def _many(self, pieces: list[schemas.FeedbackItem], model: str, reply: Reply) -> None:
        check_count("feedback", len(pieces), self._service.limits.batch)
        asked: list[Asked | Problem] = []
        for piece in pieces:
            try:
                asked.append((piece.decision_id, click_of(piece)))
            except (Problem, ClubCascadeError) as error:
                asked.append(error if isinstance(error, Problem) else Problem.of(error))
        good = [one for one in asked if not isinstance(one, Problem)]
        then = partial(self._all_answered, model, pieces, asked, reply)
        if good:
            self._service.open_shop.feedback_soon(good, then, model=model)
        else:
            then(None)

    def _all_answered(
        self,
        model: str,
        pieces: list[schemas.FeedbackItem],
        asked: list[Asked | Problem],
        reply: Reply,
        ticket: Ticket | None,
    ) -> None:
        """Tell what became of many, one by one."""
        try:
            if ticket is not None and ticket.error is not None:
                raise ticket.error
            found: Iterator[Answered] = iter(() if ticket is None else ticket.answer)
            answers = [
                self._one_of_many(model, piece, one, found)
                for piece, one in zip(pieces, asked, strict=True)
            ]
        except Exception as error:
            reply(500, error)
            return
        reply(200, schemas.FeedbackAnswers(answers))

    def _one_of_many(
        self,
        model: str,
        piece: schemas.FeedbackItem,
        asked: Asked | Problem,
        found: Iterator[Answered],
    ) -> schemas.FeedbackAnswer:
        if isinstance(asked, Problem):
            return schemas.FeedbackAnswer(piece.decision_id, error=asked.body()["error"])
        outcome = next(found)
        if not isinstance(outcome, ClubCascadeError):
            return self._told(model, asked, outcome)
        problem = Problem.of(outcome)
        if problem.status >= 500:
            raise problem
        return schemas.FeedbackAnswer(piece.decision_id, error=problem.body()["error"])

    def _told(self, model: str, asked: Asked, outcome: Outcome) -> schemas.FeedbackAnswer:
        """Count an outcome, and say it."""
        said, (decision_id, click) = outcome.value, asked
        self._service.metrics.outcomes[model, said] += 1
        if said == "applied":
            clicked = bool(click.clicks) if isinstance(click, Feedback) else click is not None
            self._service.pulse_of(model).answered(clicked)
        return schemas.FeedbackAnswer(decision_id, said)


def click_of(piece: schemas.FeedbackItem) -> Click:
    """Return the feedback of a piece of JSON."""
    if not isinstance(piece.click, UnsetType):
        if not isinstance(piece.examined, UnsetType) or not isinstance(piece.clicks, UnsetType):
            raise Problem(422, "invalid", "click must stand alone", field="click")
        return piece.click
    if isinstance(piece.examined, UnsetType) or isinstance(piece.clicks, UnsetType):
        raise Problem(
            422,
            "invalid",
            "click must be given, null for no click; or examined and clicks",
            field="click",
        )
    return Feedback(piece.examined, tuple(piece.clicks))


def _explored(model: Model, ask: Ask, shown: tuple[Any, ...]) -> float | None:
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
