"""One named model: a policy, its registered items and its counters; changed by events only."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Items, Policy
from clubcascade.errors import ClubCascadeError, InvalidItems
from clubcascade.policies import restored
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.service.records import Event, ItemsGone, ItemsPut, Learned, ModelMade, matrix

RUNS = 2**22
DRAWS_OF_A_RUN = 2**40
"""Draws that one opening of a store has to itself: at 10,000 a second they last three years."""

COUNTERS = ("learned", "clicks", "late", "absent", "refused")


class Model:
    """A policy that serves and learns under one lock: whoever reads sees whole updates only.

    Parameters
    ----------
    name, policy
        The model's name and what ranks for it.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self.policy = policy
        self.catalog: Catalog | None = None
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.version = 0
        self.lock = threading.Lock()
        self._made_as = policy.registry_name(), policy.params  # earlier versions had other names
        self._made_with: Any = None  # the place in the stream of draws when the model was made
        self._scores = getattr(policy, "scores", None)
        kind: Any = type(policy)
        compiled = isinstance(policy, CompiledPolicy)
        quick = compiled and kind.recommend is CompiledPolicy.recommend
        self._listed = policy.recommend_scored if quick and policy.has_scores else None  # type: ignore[attr-defined]
        quick = compiled and kind.update is CompiledPolicy.update
        self._learn_many: Any = policy.learn_many if quick else None  # type: ignore[attr-defined]

    @classmethod
    def made(cls, event: ModelMade, run: int = 0) -> Model:
        """Make the model of an event; in each run of a store it makes draws of its own."""
        draws = event.state.get("draws")
        moved = {} if draws is None else {"draws": draws + run % RUNS * DRAWS_OF_A_RUN}
        model = cls(event.model, restored(event.policy, event.params, event.state | moved))
        model._made_as, model._made_with = (event.policy, event.params), draws
        return model

    # -- serving -------------------------------------------------------------------------------

    def rank(
        self, user: Hashable, items: Items, k: int
    ) -> tuple[list[int], tuple[float, ...] | None, int]:
        """Return rows of a list, their scores, and the version that ranked them.

        Loose items have been checked; a catalogue may have another number of features.
        """
        if self._listed is None:
            with self.lock:
                found = self.policy.recommend(user, items, k)
                return found.tolist(), self._scores_of(user, items, found), self.version
        if isinstance(items, Catalog):
            self.policy._read_items(items)  # type: ignore[attr-defined]
        k = validation.list_length(k, len(items))  # type: ignore[arg-type]
        with self.lock:
            rows, scores = self._listed(user, items, k)
            return rows, tuple(scores), self.version

    def _scores_of(self, user: Hashable, items: Items, rows: Any) -> tuple[float, ...] | None:
        if self._scores is None:
            return None
        if self.policy.n_features is None:
            return tuple(self._scores(user, items)[rows].tolist())
        table = items._rows if isinstance(items, Catalog) else np.asarray(items)
        return tuple(self._scores(user, table[rows]).tolist())

    def candidates(self, ids: Sequence[Hashable]) -> Floats:
        """Return the features of registered items, one row each, in that order."""
        catalog = self.registered()
        index = catalog._index
        try:
            rows = [index[name] for name in ids]
        except (KeyError, TypeError):
            known = catalog._index
            wrong = [n for n in ids if not isinstance(n, Hashable) or n not in known][:1]
            raise InvalidItems(
                f"candidates must be ids of registered items of model {self.name!r}, "
                f"got {(wrong or [ids])[0]!r}"
            ) from None
        if len(set(rows)) != len(rows):
            raise InvalidItems("candidates must be distinct, got an id twice")
        if not rows:
            raise InvalidItems("candidates must name at least one item, got none")
        return catalog._rows.take(rows, axis=0)

    def registered(self) -> Catalog:
        """Return the registered items; raise if there are none."""
        if self.catalog is None:
            raise InvalidItems(
                f"items must be given, as model {self.name!r} has no registered items, got none"
            )
        return self.catalog

    # -- changing ------------------------------------------------------------------------------

    def check(self, event: Event) -> None:
        """Raise if an event does not fit the model; nothing is changed."""
        if isinstance(event, ItemsPut):
            known = self.policy.n_features
            if known is None and self.catalog is not None:
                known = self.catalog.n_features
            if known not in (None, event.features.shape[1]):
                raise InvalidItems(
                    f"items must have {known} features, got {event.features.shape[1]}"
                )

    def apply(self, number: int, event: Event) -> None:
        """Change the model by one event of the log."""
        if isinstance(event, Learned):
            self.learn(number, [event])
            return
        with self.lock:
            match event:
                case ItemsPut():
                    self.catalog = with_items(self.catalog, event.ids, event.features)
                case ItemsGone():
                    self.catalog = without_items(self.catalog, event.ids)
            self.version = number

    def learn(self, number: int, answers: Sequence[Learned]) -> None:
        """Change the model by answers that follow one another in the log, the last is ``number``.

        The state is the same to the bit as if each had come alone.
        """
        with self.lock:
            for (late, k, d), alike in groupby(answers, _kind):
                group = list(alike)
                if late:
                    self.counters["late"] += len(group)
                elif self._learn_many is not None and d == self.policy.n_features:
                    # Checked when it was shown.
                    shown = matrix([answer.shown for answer in group], k * len(group), d)
                    examined, clicks = zip(*[answer.given for answer in group], strict=True)
                    self._learn_many([answer.user for answer in group], shown, examined, clicks)
                    self._count(group)
                else:
                    for answer in group:
                        self._learn(answer)
            self.version = number

    def _learn(self, answer: Learned) -> None:
        """Learn from one answer, as any policy can."""
        shown: Any = answer.features
        if self.policy.n_features is None:  # it knows items by their ids
            shown = Catalog(shown, answer.ids)[np.arange(len(answer.ids))]
        try:
            self.policy.update(answer.user, shown, answer.feedback)
        except ClubCascadeError:  # the same event is refused again when the log is replayed
            self.counters["refused"] += 1
            return
        self._count([answer])

    def _count(self, answers: list[Learned]) -> None:
        self.counters["learned"] += len(answers)
        self.counters["clicks"] += sum(1 for answer in answers if answer.given[1])
        self.counters["absent"] += sum(1 for answer in answers if answer.kind == "absent")

    # -- keeping -------------------------------------------------------------------------------

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that makes the model: plain values, and arrays (copies)."""
        with self.lock:
            state = self.policy.state()
            if self._made_with is not None:
                state["draws"] = self._made_with  # what was drawn since is no part of the log
            catalog = self.catalog
            plain: dict[str, Any] = {
                "policy": self._made_as[0],
                "params": self._made_as[1],
                "state": {n: v for n, v in state.items() if not isinstance(v, np.ndarray)},
                "items": None if catalog is None else list(catalog.ids),
                "counters": dict(self.counters),
                "version": self.version,
            }
        arrays = {f"state.{n}": v for n, v in state.items() if isinstance(v, np.ndarray)}
        if catalog is not None:
            arrays["items"] = catalog._rows
        return plain, arrays

    @classmethod
    def from_parts(
        cls, name: str, plain: dict[str, Any], arrays: dict[str, Any], run: int = 0
    ) -> Model:
        """Return the model that :meth:`parts` described."""
        state = dict(plain["state"])
        for key, value in arrays.items():
            if key.startswith("state."):
                state[key.removeprefix("state.")] = np.array(value)
        model = cls.made(ModelMade(name, plain["policy"], plain["params"], state), run)
        if plain["items"] is not None:
            model.catalog = Catalog(arrays["items"], plain["items"])
        model.counters.update(plain["counters"])
        model.version = plain["version"]
        return model


def parts_of(event: ModelMade, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parts of a model as event ``number`` made it, without making it."""
    plain: dict[str, Any] = {
        "policy": event.policy,
        "params": event.params,
        "state": {n: v for n, v in event.state.items() if not isinstance(v, np.ndarray)},
        "items": None,
        "counters": dict.fromkeys(COUNTERS, 0),
        "version": number,
    }
    arrays = {f"state.{n}": v for n, v in event.state.items() if isinstance(v, np.ndarray)}
    return plain, arrays


def _kind(answer: Learned) -> tuple[bool, int, int]:
    """Answers of one kind, to lists of one shape, can be learned together."""
    return answer.kind == "late", *answer.shape


def with_items(catalog: Catalog | None, ids: Sequence[Hashable], features: Floats) -> Catalog:
    """Return a catalogue with these items; those it has already get the new features.

    >>> tea = with_items(None, ["tea"], np.array([[0.6, 0.8]]))
    >>> with_items(tea, ["milk", "tea"], np.eye(2)).ids
    ['tea', 'milk']
    """
    if catalog is None:
        return Catalog(features, ids)
    old = [at for at, name in enumerate(ids) if name in catalog._index]
    new = [at for at, name in enumerate(ids) if name not in catalog._index]
    if old:
        catalog = catalog.replace([catalog.index(ids[at]) for at in old], features[old])
    return catalog.add(features[new], [ids[at] for at in new]) if new else catalog


def without_items(catalog: Catalog | None, ids: Sequence[Hashable]) -> Catalog | None:
    """Return a catalogue without these items, None if none is left.

    >>> without_items(Catalog(np.eye(2), ["tea", "milk"]), ["tea", "milk"]) is None
    True
    """
    if catalog is None:
        return None
    rows = [catalog.index(name) for name in ids if name in catalog._index]
    if len(rows) == len(catalog):
        return None
    return catalog.remove(rows) if rows else catalog
