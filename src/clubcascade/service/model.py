"""One named model: policy, items, counters, who clicked what; changed by events only."""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import model_file, validation
from clubcascade.core import Catalog, Floats, Ints, Items, Policy
from clubcascade.errors import ClubCascadeError, InvalidArgument, InvalidItems
from clubcascade.policies import restored
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.service.decision import Decision, read_names, write_names
from clubcascade.service.events import Answered, Event, ItemsGone, ItemsPut, ModelMade, matrix
from clubcascade.service.metadata import Columns, Picked, Row, pack_rows, unpack_rows

NOTHING = np.zeros(0, np.int64)


def other_spelling(name: Hashable) -> Hashable:
    """Return "7" for 7 and 7 for "7"; None for what has one spelling.

    >>> other_spelling("7"), other_spelling(7), other_spelling("07"), other_spelling("tea")
    (7, '7', None, None)
    """
    if type(name) is int:
        return str(name)
    if isinstance(name, str) and name.isascii() and name.isdecimal() and len(name) < 19:
        return int(name) if str(int(name)) == name else None
    return None


class Seen:
    """The clicked items of users.

    Parameters
    ----------
    start
        What the model was made with: ``seen``, how many items are kept of a user, the last ones;
        of a trained model ``users``, ``ids``, ``starts`` and ``clicked``, its clicks by user.
    """

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.most: int = start.get("seen", 0)
        self._ids: Sequence[Hashable] = start.get("ids", ())
        self._users = {user: number for number, user in enumerate(start.get("users", ()))}
        self._starts, self._clicked = start.get("starts", NOTHING), start.get("clicked", NOTHING)
        often = np.bincount(self._clicked, minlength=len(self._ids)).tolist()
        self.counts = dict(zip(self._ids, often, strict=True))
        """How many users had clicked an item when the model was made."""
        self._later: dict[Hashable, tuple[Hashable, ...]] = {}

    def known_as(self, user: Hashable) -> Hashable:
        """Return a user's id as the training table had it: ``"7"`` for 7, or the other way round.

        >>> Seen({"users": [7], "starts": [0, 0]}).known_as("7")
        7
        """
        if not self._users or user in self._users:
            return user
        other = other_spelling(user)
        return other if other in self._users else user

    def add(self, decision: Decision, clicks: Sequence[int]) -> None:
        """Note the clicks on a list."""
        if not self.most:
            return
        known = self._later.get(decision.user, ())
        new = [decision.items[place] for place in clicks if decision.items[place] not in known]
        if new:
            self._later[decision.user] = (*known, *new)[-self.most :]

    def of(self, user: Hashable) -> set[Hashable]:
        """Return the items that a user clicked."""
        found = set(self._later.get(user, ()))
        if user in self._users:
            number = self._users[user]
            rows = self._clicked[self._starts[number] : self._starts[number + 1]]
            found.update(self._ids[row] for row in rows.tolist())
        return found

    def copy(self) -> Seen:
        """Return what is known now; the rest is shared."""
        other = Seen.__new__(Seen)
        other.__dict__.update(self.__dict__, _later=self._later.copy())
        return other

    def pack(self) -> npt.NDArray[np.uint8]:
        """Return what was clicked since the model was made, as bytes."""
        pairs = [[write_names([user, *ids])] for user, ids in self._later.items()]
        return np.frombuffer(json.dumps(pairs, separators=(",", ":")).encode(), np.uint8)

    def unpack(self, data: npt.NDArray[np.uint8]) -> None:
        """Take in what :meth:`pack` returned."""
        for (names,) in json.loads(data.tobytes()):
            user, *ids = read_names(names)
            self._later[user] = tuple(ids)


SERVERS = 2**22
DRAWS_OF_A_SERVER = 2**40
"""Draws that one server has to itself: at 10,000 a second they last three years."""

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
        self.metadata: dict[Hashable, Row] = {}
        """Columns of items by id; replaced, never changed."""
        self.start: dict[str, Any] = {}
        """What the model was made with, but for its items."""
        self.seen = Seen({})
        self._columns: Columns | None = None
        self._packed: tuple[Catalog, dict[Hashable, Row], Any] | None = None
        self.maker: Any = None
        """The maker of features, once a new item came by its row of the table."""
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
    def made(cls, event: ModelMade, server: int = 0) -> Model:
        """Make the model of an event; each server makes draws of its own, the first from 0."""
        draws = event.state.get("draws")
        moved = {} if draws is None else {"draws": draws + server % SERVERS * DRAWS_OF_A_SERVER}
        model = cls(event.model, restored(event.policy, event.params, event.state | moved))
        model._made_as, model._made_with = (event.policy, event.params), draws
        model.start, model.seen = dict(event.start), Seen(event.start)
        vectors, rows = (model.start.pop(name, None) for name in ("vectors", "metadata"))
        if vectors is not None:
            model.catalog = Catalog(vectors, model.start["ids"])
            model.metadata = unpack_rows(model.start["ids"], rows)
        return model

    # -- serving -------------------------------------------------------------------------------

    def rank(
        self, user: Hashable, items: Items, k: int
    ) -> tuple[list[int], tuple[float, ...] | None, int, int | None]:
        """Return rows of a list, their scores, and the version and the draw that ranked them.

        Loose items have been checked; a catalogue may have another number of features.
        """
        if self._listed is None:
            with self.lock:
                version, draw = self.version, getattr(self.policy, "next_draw", None)
                found = self.policy.recommend(user, items, k)
                return found.tolist(), self._scores_of(user, items, found), version, draw
        if isinstance(items, Catalog):
            self.policy._read_items(items)  # type: ignore[attr-defined]
        k = validation.list_length(k, len(items))  # type: ignore[arg-type]
        with self.lock:
            version, draw = self.version, self.policy.next_draw  # type: ignore[attr-defined]
            rows, scores = self._listed(user, items, k)
            return rows, tuple(scores), version, draw

    def best(
        self, user: Hashable, items: Items, k: int
    ) -> tuple[list[int], tuple[float, ...] | None, int]:
        """Do what :meth:`rank` does, without exploration: the best items as far as is known."""
        k = validation.list_length(k, len(items))  # type: ignore[arg-type]
        weights = getattr(self.policy, "_expected", None)
        with self.lock:
            values, version = self.means(user, items), self.version
            order = None if weights is None else weights(user)
        self.check_greedy(values is not None)
        assert values is not None
        if order is not None:  # among those that are expected to be clicked for certain
            order = (items._rows if isinstance(items, Catalog) else np.asarray(items)) @ order
        return *top(values, k, order), version

    @property
    def explore(self) -> float:
        """Share of its lists that explore."""
        return float(self.start.get("explore", 1.0))

    def check_greedy(self, known: bool = True) -> None:
        """Raise if there is no list without exploration."""
        if not (known and (hasattr(self.policy, "_means") or hasattr(self.policy, "_parts"))):
            raise InvalidArgument(
                f"explore must be 1, and greedy false, for {type(self.policy).__name__}, which "
                f"does not say what it expects of an item"
            )

    def popular(
        self, user: Hashable, names: Sequence[Hashable], k: int
    ) -> tuple[list[int], tuple[float, ...] | None, int] | None:
        """Return the list of a user nobody knows, for a model that was trained: the most clicked.

        The scores are the shares of users who clicked.
        """
        if "users" not in self.start or user in getattr(self.policy, "_numbers", ()):
            return None
        columns = self.columns()
        if names is columns.catalog.ids:
            counts = columns.popular
        elif isinstance(names, Picked) and names.names is columns.catalog.ids:
            counts = columns.popular[names.rows]
        else:
            counts = np.array([self.seen.counts.get(each, 0) for each in names], np.float64)
        k = validation.list_length(k, len(counts))
        return *top(counts / max(len(self.start["users"]), 1), k), self.version

    def means(self, user: Hashable, items: Items) -> Floats | None:
        """Return what is expected of items for a user; None for a policy that does not say."""
        expected = getattr(self.policy, "_means", None)
        if expected is not None:
            return expected(user, items)  # type: ignore[no-any-return]
        known = getattr(self.policy, "_parts", None)
        if known is not None:
            try:
                return known(user, items)[0]  # type: ignore[no-any-return]
            except ClubCascadeError:
                return None
        return None

    def _scores_of(self, user: Hashable, items: Items, rows: Any) -> tuple[float, ...] | None:
        if self._scores is None:
            return None
        if self.policy.n_features is None:
            return tuple(self._scores(user, items)[rows].tolist())
        table = items._rows if isinstance(items, Catalog) else np.asarray(items)
        return tuple(self._scores(user, table[rows]).tolist())

    def item_as(self, name: Hashable) -> Hashable:
        """Return an item's id as the training table has it: 7 and "7" are one item."""
        known = () if self.catalog is None else self.catalog._index
        if "ids" not in self.start or name in known:
            return name
        other = other_spelling(name)
        if other in known:
            return other
        whole = type(other) is int and all(type(each) is int for each in self.start["ids"])
        return other if whole else name

    def candidates(self, ids: Sequence[Hashable]) -> Floats:
        """Return the features of registered items, one row each, in that order."""
        return self.registered()._rows.take(self.candidate_rows(ids), axis=0)

    def candidate_rows(self, ids: Sequence[Hashable]) -> Ints:
        """Return the rows of registered items, which must be distinct."""
        catalog = self.registered()
        index = catalog._index
        try:
            rows = [index[n if n in index else self.item_as(n)] for n in ids]
        except (KeyError, TypeError):
            wrong = [n for n in ids if not isinstance(n, Hashable) or n not in index][:1]
            raise InvalidItems(
                f"candidates must be ids of registered items of model {self.name!r}, "
                f"got {(wrong or [ids])[0]!r}"
            ) from None
        if len(set(rows)) != len(rows):
            raise InvalidItems("candidates must be distinct, got an id twice")
        if not rows:
            raise InvalidItems("candidates must name at least one item, got none")
        return np.array(rows)

    def columns(self) -> Columns:
        """Return the columns of the registered items as arrays, made anew when items change."""
        catalog, metadata, kept = self.registered(), self.metadata, self._columns
        if kept is None or kept.catalog is not catalog or kept.metadata is not metadata:
            kept = self._columns = Columns(catalog, metadata, self.seen.counts)
        return kept

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
        if isinstance(event, Answered):
            self.learn(number, [event])
            return
        with self.lock:
            match event:
                case ItemsPut():
                    try:
                        self.check(event)
                    except InvalidItems:  # of a server that did not know of those before
                        self.counters["refused"] += 1
                    else:
                        self.catalog = with_items(self.catalog, event.ids, event.features)
                        new = zip(event.ids, event.metadata or (), strict=False)
                        self._describe({each: row for each, row in new if row is not None})
                case ItemsGone():
                    self.catalog = without_items(self.catalog, event.ids)
                    self._describe(dict.fromkeys(event.ids))
            self.version = number

    def _describe(self, rows: Mapping[Hashable, Row | None]) -> None:
        """Give items other columns, or none."""
        if rows:
            every: dict[Hashable, Row | None] = {**self.metadata, **rows}
            self.metadata = {each: row for each, row in every.items() if row}

    def learn(self, number: int, answers: Sequence[Answered]) -> None:
        """Change the model by answers that follow one another in the log, the last is ``number``.

        The state is the same, bit for bit, as if each had come alone.
        """
        with self.lock:
            for (learned, k, d), alike in groupby(answers, _kind):
                group = list(alike)
                if not learned:
                    self.counters["late"] += sum(answer.kind == "late" for answer in group)
                elif self._learn_many is not None and d == self.policy.n_features:
                    # Checked when it was shown.
                    shown = matrix([a.decision.features for a in group], k * len(group), d)
                    examined, clicks = zip(*[answer.given for answer in group], strict=True)
                    users = [answer.decision.user for answer in group]
                    self._learn_many(users, shown, examined, clicks)
                    self._count(group)
                else:
                    for answer in group:
                        self._learn(answer)
            self.version = number

    def _learn(self, answer: Answered) -> None:
        """Learn from one answer, as any policy can."""
        decision = answer.decision
        shown: Any = matrix([decision.features], *decision.shape)
        if self.policy.n_features is None:  # it knows items by their ids
            shown = Catalog(shown, decision.items)[np.arange(len(decision.items))]
        try:
            self.policy.update(decision.user, shown, answer.feedback)
        except ClubCascadeError:  # the same event is refused again when the log is replayed
            self.counters["refused"] += 1
            return
        self._count([answer])

    def _count(self, answers: list[Answered]) -> None:
        self.counters["learned"] += len(answers)
        self.counters["clicks"] += sum(1 for answer in answers if answer.given[1])
        self.counters["absent"] += sum(1 for answer in answers if answer.kind == "absent")
        for answer in answers:
            if answer.given[1]:
                self.seen.add(answer.decision, answer.given[1])

    def draws_of(self, other: Model) -> Model:
        """Go on with the draws of another copy of the model, so that none is made twice."""
        draws = other.policy.state().get("draws")
        if draws is not None:
            self.policy.load_state(self.policy.state() | {"draws": draws})
        return self

    # -- keeping -------------------------------------------------------------------------------

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that makes the model: plain values, and arrays (copies)."""
        with self.lock:
            state = self.policy.state()
            if self._made_with is not None:
                state["draws"] = self._made_with  # what was drawn since is no part of the log
            catalog, metadata, seen = self.catalog, self.metadata, self.seen.copy()
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
            if metadata:
                kept = self._packed
                if kept is None or kept[0] is not catalog or kept[1] is not metadata:
                    kept = catalog, metadata, pack_rows(catalog.ids, metadata)
                arrays["metadata"], self._packed = kept[2], kept
        if self.start:
            plain["start"], more = model_file.split_state(self.start, "start/")
            arrays |= more | {"seen": seen.pack()}
        return plain, arrays

    @classmethod
    def from_parts(
        cls, name: str, plain: dict[str, Any], arrays: dict[str, Any], server: int = 0
    ) -> Model:
        """Return the model that :meth:`parts` described."""
        state, more = dict(plain["state"]), {}
        for key, value in arrays.items():
            if key.startswith("state."):
                state[key.removeprefix("state.")] = np.array(value)
            if key.startswith("start/"):
                more[key.removeprefix("start/")] = value
        start = model_file.join_state(plain.get("start", {}), more)
        model = cls.made(ModelMade(name, plain["policy"], plain["params"], state, start), server)
        if plain["items"] is not None:
            model.catalog = Catalog(arrays["items"], plain["items"])
            if "metadata" in arrays:
                model.metadata = unpack_rows(plain["items"], arrays["metadata"])
        if "seen" in arrays:
            model.seen.unpack(arrays["seen"])
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
    if event.start:
        plain["start"], more = model_file.split_state(event.start, "start/")
        arrays |= more
    return plain, arrays


def top(values: Floats, k: int, order: Floats | None = None) -> tuple[list[int], tuple[float, ...]]:
    """Return the rows of the k largest values, equal ones by ``order``, then the first; the values.

    >>> top(np.array([0.5, 0.9, 0.5, 0.1]), 2)
    ([1, 0], (0.9, 0.5))
    """
    least = np.partition(values, len(values) - k)[len(values) - k]
    some = np.flatnonzero(values >= least)
    second = values if order is None else order
    rows = some[np.lexsort((-second[some], -values[some]))[:k]]
    return rows.tolist(), tuple(values[rows].tolist())


def _kind(answer: Answered) -> tuple[bool, int, int]:
    """Answers of one kind, to lists of one shape, can be learned together."""
    return answer.learned, *answer.decision.shape


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
