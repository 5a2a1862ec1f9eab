"""From a question to a decision: rank, name, remember, and hand over to the writer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats
from clubcascade.errors import InvalidArgument, InvalidItems, StoreUnavailable
from clubcascade.service.arguments import (
    FEW_SEEN,
    Ask,
    offer,
    request_name,
    seen_by,
    user_id,
)
from clubcascade.service.decision import Decision, hash_of, make_id, tags
from clubcascade.service.experiments import Experiment, check_alike, interleaved
from clubcascade.service.model import Model
from clubcascade.service.models import Models
from clubcascade.service.writer import UNSAVED, Queue, Recent, Writer
from clubcascade.storage import Store
from clubcascade.storage.base import OWN


class Decider:
    """Makes decisions, in whatever thread asks for them.

    Parameters
    ----------
    store, models, recent, queue, writer
        Those of the recommender.
    now
        The time in milliseconds.
    durable
        Whether a decision is waited for until it is on the disk.
    """

    def __init__(
        self,
        store: Store,
        models: Models,
        recent: Recent,
        queue: Queue,
        writer: Writer,
        *,
        now: Callable[[], int],
        durable: bool,
    ) -> None:
        self._models, self._recent, self._queue, self._writer = models, recent, queue, writer
        self._now, self._durable, self._remote = now, durable, store.remote
        self._numbers = count((store.server << OWN) + 1)  # those of no other server
        self._tags = tags()
        self._server, self._drafts = store.server, count()
        self._naming, self._requesting = threading.Lock(), threading.Lock()

    def looks_far(self, ask: Ask) -> bool:
        """Tell whether the answer takes long: a look across a network, or at many items."""
        many = (
            ask.filter is not None
            or ask.greedy
            or ask.explore is not None
            or ask.model in self._models.experiments
        )
        return many or (ask.request_id is not None and self._remote)

    @property
    def waits(self) -> bool:
        """Whether decisions are waited for: on demand, or because too many are on their way."""
        full = self._queue.quiet_bytes > UNSAVED and self._writer.problem is None
        return self._durable or full

    def decide(self, ask: Ask, put: Callable[[Decision], None]) -> Decision:
        """Return a decision, the earlier one for a request seen before.

        A new one is remembered, and handed over to the writer by ``put``.
        """
        user = user_id(ask.user)
        experiment, arm, model = self._models.experiments.get(ask.model), None, ask.model
        if experiment is not None:
            if ask.greedy or ask.explore is not None:
                raise InvalidArgument("greedy and explore must be left to the arms, got one")
            check_alike([self._models[each] for each in experiment.models], ask)
            user = self._models.known_as(user, experiment.models)
            arm, model, explore = experiment.arm_of(user)
        else:
            user = self._models.known_as(user, [model])
            explore = self._models[model].explore
            if ask.explore is not None:
                explore = validation.number("explore", ask.explore, low=0, high=1)
        target = self._models[model]
        if user is not ask.user:
            ask = ask._replace(user=user)
        if explore < 1 and not ask.greedy:
            ask = ask._replace(greedy=self._is_greedy(target, explore))
        if ask.request_id is None:
            return self._rank(target, ask, None, put, experiment, arm)
        request = f"{ask.model}/{request_name(ask.request_id)}"
        with self._requesting:
            earlier = self.earlier(request)
            if earlier is None:
                return self._rank(target, ask, request, put, experiment, arm)
        length = len(earlier.items)
        if earlier.user != ask.user or not (length == ask.k or (ask.narrow and length < ask.k)):
            raise InvalidArgument(
                f"request_id must be new for another request, got {ask.request_id!r} again for "
                f"user {ask.user!r} and k={ask.k!r}"
            )
        return earlier

    def _is_greedy(self, target: Model, explore: float) -> bool:
        """Draw whether a list is one without exploration."""
        target.check_greedy()
        return bool(np.random.default_rng(self._seed()).random() >= explore)

    def _seed(self) -> list[int]:
        with self._naming:
            return [self._server, next(self._drafts)]

    def earlier(self, request: str) -> Decision | None:
        """Return the decision of a request; lists go on where the store cannot be asked."""
        try:
            down = self._remote and self._writer.problem is not None
            return self._recent.find_request(request, memory_only=down)
        except StoreUnavailable:
            return None

    def _rank(
        self,
        target: Model,
        ask: Ask,
        request: str | None,
        put: Callable[[Decision], None],
        experiment: Experiment | None,
        arm: str | None,
    ) -> Decision:
        while True:
            catalog = target.catalog
            found = _ranked(target, ask)
            if target.catalog is catalog:
                break  # else it is not known of which version the items were
        rows, scores, draw, names, teams = found.rows, found.scores, found.draw, found.names, None
        if experiment is not None and arm is None:
            rows, teams = self._interleaved(experiment, ask, found)
            scores = draw = None  # it is nobody's list
        offered = found.offered
        table: Floats = offered._rows if isinstance(offered, Catalog) else offered
        shown = table.take(rows, axis=0).tobytes()
        items = tuple([names[row] for row in rows])
        candidates, ids = "items" if ask.items is not None else "catalogue", None
        if ask.narrow:
            candidates = "narrowed"
        elif ask.items is None and offered is not catalog:
            candidates = hash_of((target.name, *names))
            ids = None if candidates in self._models.candidates else tuple(names)
        with self._naming:  # a later number is never durable before: others may rely on that
            number, tag = next(self._numbers), next(self._tags)
            decision = Decision(
                make_id(number, tag),
                items,
                scores,
                found.version,
                target.name,
                ask.user,
                self._now(),
                request,
                number,
                draw,
                found.greedy,
                candidates=candidates,
                experiment=None if experiment is None else experiment.id,
                arm=arm,
                teams=teams,
                candidate_ids=ids,
                features=shown,
            )
            self._recent.add(decision)
            put(decision)
        return decision

    def _interleaved(
        self, experiment: Experiment, ask: Ask, mine: _Ranked
    ) -> tuple[list[int], tuple[int, ...]]:
        """Return a list made of this one and the second arm's, and whose its items are."""
        if ask.narrow:
            raise InvalidArgument(
                "exclude_seen and filter must be left out of interleaved lists, got one"
            )
        _, model, _, explore = experiment.put.arms[1]
        greedy = explore < 1 and self._is_greedy(self._models[model], explore)
        theirs = _ranked(self._models[model], ask._replace(greedy=greedy))
        n = len(mine.names)
        if any(row >= n or mine.names[row] != theirs.names[row] for row in theirs.rows):
            raise InvalidItems(
                f"items must be the same in models that are interleaved, got other ones in "
                f"{model!r}"
            )
        return interleaved(mine.rows, theirs.rows, self._seed())


class _Ranked(NamedTuple):
    """A list of a model: what was offered, the rows of it that are shown, and how they came."""

    offered: Floats | Catalog
    names: Sequence[Hashable]
    rows: list[int]
    scores: tuple[float, ...] | None
    version: int
    draw: int | None
    greedy: bool


def _ranked(target: Model, ask: Ask) -> _Ranked:
    offered, names = offer(target, ask)
    seen = seen_by(target, ask)
    seen = seen if len(seen) <= FEW_SEEN else set()  # else they are not offered
    k = min(ask.k + len(seen), len(names)) if ask.narrow else ask.k
    known = target.popular(ask.user, names, k) if ask.items is None else None
    if known is None and ask.greedy:
        known = target.best(ask.user, offered, k)
    rows, scores, version, draw = (
        target.rank(ask.user, offered, k) if known is None else (*known, None)
    )
    if seen:
        left = [place for place, row in enumerate(rows) if names[row] not in seen][: ask.k]
        if not left:
            raise InvalidItems("exclude_seen must leave at least one item to show, got none")
        rows = [rows[place] for place in left]
        scores = None if scores is None else tuple([scores[place] for place in left])
    return _Ranked(offered, names, rows, scores, version, draw, known is not None)
