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
from clubcascade.service.decision import Decision
from clubcascade.service.endpoint import Call, Reply, check_count
from clubcascade.service.model import Model
from clubcascade.service.plan import Answered, Click
from clubcascade.service.problems import Problem
from clubcascade.service.ticket import Ticket

if TYPE_CHECKING:
    from clubcascade.service.app import Service

SAMPLED = 64
"""One list in so many is compared with the best known one, for the share explored."""


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
        name = shop.model(call.params["model"]).name
        pieces, single = pieces_of(sent)
        check_count("feedback", len(pieces), self._service.limits.batch)
        clicks: list[tuple[str, Click] | Problem] = []
        for piece in pieces:
            try:
                clicks.append((piece.decision_id, click_of(piece)))
            except (Problem, ClubCascadeError) as error:
                clicks.append(error if isinstance(error, Problem) else Problem.of(error))
        good = [click for click in clicks if not isinstance(click, Problem)]
        answered = partial(self._answered, name, pieces, clicks, single, reply)
        if good:
            shop.feedback_soon(good, answered, model=name)
        else:
            answered(None)

    def _answered(
        self,
        model: str,
        pieces: list[schemas.FeedbackItem],
        clicks: list[tuple[str, Click] | Problem],
        single: bool,
        reply: Reply,
        ticket: Ticket | None,
    ) -> None:
        """Tell what became of it, now that it is durable."""
        try:
            if ticket is not None and ticket.error is not None:
                raise ticket.error
            found: Iterator[Answered] = iter(() if ticket is None else ticket.answer)
            answers = [
                self._told(piece, click, found, model)
                for piece, click in zip(pieces, clicks, strict=True)
            ]
        except Exception as error:
            reply(500, error)
            return
        if not single:
            reply(200, schemas.FeedbackAnswers(answers))
        elif answers[0].error is not None:
            reply(422, {"error": answers[0].error})
        else:
            reply(200, answers[0])

    def _told(
        self,
        piece: schemas.FeedbackItem,
        click: tuple[str, Click] | Problem,
        found: Iterator[Answered],
        model: str,
    ) -> schemas.FeedbackAnswer:
        if isinstance(click, Problem):
            return schemas.FeedbackAnswer(piece.decision_id, error=click.body()["error"])
        outcome = next(found)
        if isinstance(outcome, ClubCascadeError):
            problem = Problem.of(outcome)
            if problem.status >= 500:
                raise problem
            return schemas.FeedbackAnswer(piece.decision_id, error=problem.body()["error"])
        told = outcome.value
        self._service.metrics.outcomes[model, told] += 1
        if told == "applied":
            given = click[1]
            clicked = bool(given.clicks) if isinstance(given, Feedback) else given is not None
            self._service.pulse_of(model).answered(clicked)
        return schemas.FeedbackAnswer(piece.decision_id, told)


def pieces_of(sent: Either) -> tuple[list[schemas.FeedbackItem], bool]:
    """Return the pieces of feedback of a request, and whether it is one that stands alone."""
    lone = not isinstance(sent.decision_id, UnsetType)
    if isinstance(sent.feedback, UnsetType):
        if not lone:
            raise Problem(422, "invalid", "decision_id must be given", field="decision_id")
        return [sent], True
    if lone:
        raise Problem(422, "invalid", "feedback must stand alone", field="feedback")
    return sent.feedback, False


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
