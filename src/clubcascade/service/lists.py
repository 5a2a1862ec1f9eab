"""A store as a log of lists, each with the model and the items that made it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from clubcascade.core import Catalog, Feedback, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import Log
from clubcascade.evaluation.log import part_of
from clubcascade.policies import policy_class
from clubcascade.service.decision import Decision
from clubcascade.service.events import (
    Answered,
    CandidatesNamed,
    ExperimentPut,
    ItemsGone,
    ItemsPut,
    ModelGone,
    ModelMade,
    UserGone,
)
from clubcascade.service.history import events_of, existing, replayed
from clubcascade.service.model import Model
from clubcascade.service.models import Models, read_events
from clubcascade.storage import Store


@dataclass(frozen=True)
class Rebuilt:
    """Rebuilds a model of a store at positions of its log, one after another."""

    store: str
    model: str

    def __call__(self, positions: Iterable[int]) -> Iterator[Policy]:
        """Yield the model at each position; they rise, and it is the same object each time."""
        with closing(existing(self.store)) as store:
            models, at = Models(0, partial(events_of, store)), 0
            for position in positions:
                models.replay(store.events(at, position))
                at = max(at, position)
                yield models[self.model].policy


def log_of(store: str | os.PathLike[str], model: str) -> Log:
    """Read the lists of a model from a store, for :func:`clubcascade.evaluate`.

    Everything is in the log: what could have been shown, and the model that made each list. Lists
    that nobody answered, or not yet, are lists without a click. Left out are greedy and interleaved
    lists, which the model did not draw, those of a filter or ``exclude_seen``, whose candidates are
    not kept, and those made before a user was forgotten: their model is gone.

    Parameters
    ----------
    store
        A folder, or a URL ``postgresql://user@host/database``; a service may run on it.
    model
        Name of the model.
    """
    where = os.fspath(store)
    with closing(existing(where)) as opened:
        if opened.first() > 1:
            raise InvalidArgument(
                f"store must have its whole log, got one that begins at event {opened.first()}"
            )
        head = opened.head()
        lists, sets = _lists(opened, model, head)
        catalogs = _catalogs(opened, model, sorted({d.model_version for d, _, _ in lists}))
    parts: dict[int, dict[tuple[object, ...], Catalog]] = {}
    candidates: list[Catalog | None] = []
    for decision, _, _ in lists:
        found = catalogs.get(decision.model_version)
        if found is None or decision.candidates == "catalogue":
            candidates.append(found)
            continue
        ids, mine = sets.get(decision.candidates or ""), parts.setdefault(id(found), {})
        candidates.append(None if ids is None else part_of(found, found._index, ids, mine))
    return Log(
        [decision.user for decision, _, _ in lists],
        [
            range(len(decision.items)) if one is None else [*map(one.index, decision.items)]
            for (decision, _, _), one in zip(lists, candidates, strict=True)
        ],
        [
            None if answer is None or answer.kind == "expired" else Feedback(*answer.given)
            for _, _, answer in lists
        ],
        candidates,
        made=[decision.model_version for decision, _, _ in lists],
        answered=[at if answer and answer.learned else -1 for _, at, answer in lists],
        models=Rebuilt(where, model),
    )


def learned_from(
    store: str | os.PathLike[str], model: str, policy: str, until: int | None
) -> tuple[Policy, int]:
    """Return a policy that learned a model's log up to a position, by default half of it.

    Also returns the position.
    """
    with closing(existing(store)) as opened:
        until = opened.head() // 2 if until is None else until
        kind = policy_class(policy)
        n_features = replayed(opened, until)[model].policy.n_features
        params = {"n_features": n_features} if "n_features" in _names(kind) else {}
        return replayed(opened, until, model=model, policy=kind(**params))[model].policy, until


def _names(kind: type[Policy]) -> Iterable[str]:
    return inspect.signature(kind).parameters


def _lists(
    store: Store, model: str, head: int
) -> tuple[list[tuple[Decision, int, Answered | None]], dict[str, Sequence[object]]]:
    """Return the lists whose model can be rebuilt, with their answers, and the named candidates."""
    found: list[tuple[Decision, int, Answered | None]] = []
    sets: dict[str, Sequence[object]] = {}
    shared: set[str] = set()
    start = made = 0
    for position, event in read_events(store.events(0, head)):
        if isinstance(event, ExperimentPut):
            shared |= {arm[1] for arm in event.arms}
        related = event.model == model or {event.model, model} <= shared
        if not related or (event.model != model and not isinstance(event, UserGone)):
            continue
        match event:
            case ModelMade() if not made:
                start = made = position
            case ModelGone():
                made = 0
            case UserGone():
                start = position
            case CandidatesNamed():
                sets[event.key] = event.ids
            case Answered():
                found.append((event.decision, position, event))
    if not made:
        raise InvalidArgument(f"model must be one of the store's, got {model!r}")
    after = 0
    while rows := store.every_decision(after, 1_000):
        after = rows[-1].number
        for row in rows:
            decision = Decision.read(row.number, row.payload)
            if decision.model == model and (row.position is None or row.position > head):
                found.append((decision, -1, None))
    kept = [
        each
        for each in found
        if each[0].model_version >= start
        and each[0].teams is None
        and not (each[0].greedy or each[0].candidates == "narrowed")
    ]
    return kept, sets


def _catalogs(store: Store, name: str, needed: list[int]) -> dict[int, Catalog]:
    """Return the registered items at positions, which rise; those that have none are left out."""
    found: dict[int, Catalog] = {}
    model: Model | None = None
    for before, position in pairwise([0, *needed]):
        for at, payload in store.events(before, position):
            if payload[:1] not in b"MDIR":
                continue
            ((_, event),) = read_events([(at, payload)])
            if event.model != name:
                continue
            if isinstance(event, ModelMade) and model is None:
                model = Model.made(event)
            elif isinstance(event, ModelGone):
                model = None
            elif isinstance(event, ItemsPut | ItemsGone) and model is not None:
                model.apply(at, event)
        if model is not None and model.catalog is not None:
            found[position] = model.catalog
    return found
