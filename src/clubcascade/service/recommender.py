"""The recommender: lists for users, feedback that is never lost. No HTTP here."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Policy
from clubcascade.errors import (
    ClubCascadeError,
    InvalidArgument,
    StoreError,
    StoreUnavailable,
    unknown_name,
)
from clubcascade.service.arguments import (
    DEFAULT_MODEL,
    Ask,
    item_names,
    made_alike,
    make_policy,
    model_name,
    user_id,
)
from clubcascade.service.chores import Chores
from clubcascade.service.decider import Decider
from clubcascade.service.decision import Decision, Outcome, parse_id
from clubcascade.service.events import (
    Event,
    ExperimentGone,
    ExperimentPut,
    ItemsGone,
    ItemsPut,
    ModelGone,
    ModelMade,
)
from clubcascade.service.experiments import Experiment, Results, check_models, read_arms
from clubcascade.service.history import forget, opened
from clubcascade.service.metadata import described
from clubcascade.service.model import Model
from clubcascade.service.models import read_events
from clubcascade.service.trained import File, by_row, fingerprint, made_of
from clubcascade.service.writer import (
    CallWork,
    Click,
    DecisionWork,
    FeedbackWork,
    Queue,
    Recent,
    Writer,
)

if TYPE_CHECKING:
    from clubcascade.training import Trained

DAY = 86_400.0

_log = logging.getLogger("clubcascade.service")


class Recommender:
    """Ranks for users, learns from their clicks, and forgets nothing that it acknowledged.

    Feedback is validated, deduplicated, appended to a log, synchronised with the disk, learned,
    and then acknowledged, in this order. It may come late, twice, out of order or after a restart.
    What was learned is a function of the log alone: a restart is the same model bit for bit. Any
    number of recommenders, in any number of processes, share a store: each takes feedback on the
    decisions of all, and follows what the others learn.

    Parameters
    ----------
    store
        A folder, made if it does not exist, or a URL ``postgresql://user@host/database``.
    policy
        The policy of the model ``"default"``, made if the store has none: a policy of the package
        (one that has learned before goes on from there) or its name; by default
        ``CohortCascade``.
    n_features
        Number of features of an item, for a policy that is named or left out.
    trained
        Instead of a policy: what :func:`clubcascade.train` returned, or its file. The model
        ``"default"`` is made of it if the store has none, with items, titles and clicks.
    wait
        Seconds that feedback may take, by this machine's clock; what comes later is logged and not
        learned. After twice that time a decision without an answer is logged as expired, and all
        are forgotten.
    absent
        What feedback that never comes teaches: nothing (``"ignore"``) or ``"no_click"``.
    durable_decisions
        Whether ``recommend`` returns only when its decision is on the disk. Otherwise decisions
        follow within a few hundredths of a second, and a crash in between makes their feedback
        ``unknown``.
    snapshot_every
        Events between two snapshots.
    repair
        Go on from the last good event if the log is damaged. What is lost is said in ``notes``.
    patience
        Seconds that feedback waits for a decision of another server that is not durable yet.
    archive
        Folder for old events, as Parquet files; by default one in the store's folder, and none
        for PostgreSQL, whose servers must share it.
    keep
        Days that events are kept in the archive; by default for ever.
    clock
        Seconds since 1970.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> shop = Recommender(folder.name, n_features=2)
    >>> shop.register_items(["tea", "milk"], [[1.0, 0.0], [0.0, 1.0]])
    2
    >>> decision = shop.recommend("alice", 1)
    >>> decision.items
    ('milk',)
    >>> shop.feedback(decision.id, 0), shop.feedback(decision.id, 0), shop.feedback(decision.id)
    (<Outcome.APPLIED: 'applied'>, <Outcome.DUPLICATE: 'duplicate'>, <Outcome.CONFLICT: 'conflict'>)
    >>> digest = shop.digest()
    >>> shop.close()
    >>> with Recommender(folder.name) as shop:
    ...     shop.digest() == digest, shop.feedback(decision.id, 0).value
    (True, 'duplicate')
    >>> folder.cleanup()
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        *,
        policy: Policy | str | None = None,
        n_features: int | None = None,
        trained: Trained | File | None = None,
        wait: float = DAY,
        absent: Literal["ignore", "no_click"] = "ignore",
        durable_decisions: bool = False,
        snapshot_every: int = 20_000,
        repair: bool = False,
        patience: float = 2.0,
        archive: str | os.PathLike[str] | None = None,
        keep: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        wait = validation.number("wait", wait, low=0, open_low=True)
        patience = validation.number("patience", patience, low=0)
        snapshot_every = validation.whole("snapshot_every", snapshot_every, low=1)
        keep = None if keep is None else validation.number("keep", keep, low=0, open_low=True)
        if keep is not None and archive is None and "://" in str(store):
            raise InvalidArgument("keep must be given with an archive, got no archive")
        validation.choice("absent", absent, ("ignore", "no_click"))
        first = make_policy(policy, n_features) if policy or n_features is not None else None
        if first is not None and trained is not None:
            raise InvalidArgument("trained must be given without policy and n_features, got both")
        self._closed = False
        self._store, self._models, self.notes = opened(store, repair=repair, archive=archive)
        for note in self.notes:
            _log.warning("%s", note)
        try:
            self._recent, self._queue = Recent(self._store), Queue()
            self._chores = Chores(
                self._store,
                self._models,
                clock=clock,
                wait=wait,
                count_absent=absent == "no_click",
                snapshot_every=snapshot_every,
                keep=keep,
            )
            self._writer = Writer(
                self._queue, self._store, self._models, self._recent, self._chores, patience
            )
        except BaseException:
            self._store.close()
            raise
        self._waiting = 0
        self._results: dict[str, Results] = {}
        self._telling = threading.Lock()
        self._forgetting = threading.Lock()
        self._decider = Decider(
            self._store,
            self._models,
            self._recent,
            self._queue,
            self._writer,
            now=self._chores.now,
            durable=bool(durable_decisions),
        )
        if first is not None or trained is not None:
            self._ensure_first(first, policy, trained)

    def _ensure_first(
        self, mine: Policy | None, asked: Policy | str | None, trained: Trained | File | None
    ) -> None:
        try:
            if DEFAULT_MODEL in self._models.aside:
                return  # the others are served
            if DEFAULT_MODEL not in self._models.models:
                try:
                    self.create_model(DEFAULT_MODEL, mine, trained=trained)
                    return
                except InvalidArgument:
                    if DEFAULT_MODEL not in self._models.models:
                        raise  # else another server was faster
            if mine is None:
                if not self.is_made_of(DEFAULT_MODEL, trained):
                    note = (
                        f"the store's model {DEFAULT_MODEL!r} stays: it was not made of the "
                        f"trained model that was given; make one of another name of that"
                    )
                    _log.warning("%s", note)
                    self.notes.append(note)
                return
            kept = self._models[DEFAULT_MODEL].policy
            given = isinstance(asked, Policy)
            same = made_alike(mine, kept) if given else mine.n_features == kept.n_features
            if (asked is not None and type(mine) is not type(kept)) or not same:
                raise InvalidArgument(
                    f"policy must be that of the store's model {DEFAULT_MODEL!r}, {kept!r}, "
                    f"got {mine!r}; leave it out, or make a model of another name"
                )
        except BaseException:
            self.close()
            raise

    # -- models --------------------------------------------------------------------------------

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self._models.models)

    @property
    def aside(self) -> dict[str, str]:
        """Why models are not served, by name: they cannot be read; the log keeps what is theirs."""
        return {name: aside.reason for name, aside in self._models.aside.items()}

    def model(self, name: str = DEFAULT_MODEL) -> Model:
        """Return a model: its ``policy``, ``catalog``, ``counters`` and ``version``; only to read.

        Its policy learns on by itself; take ``lock`` for several looks at one state.
        """
        return self._models[name]

    def is_made_of(self, name: str, trained: Trained | File | None) -> bool:
        """Tell whether a model was made of that file."""
        kept = self._models[name].start.get("file")
        return isinstance(trained, str | bytes | os.PathLike) and kept == fingerprint(trained)

    def create_model(
        self,
        name: str,
        policy: Policy | str | None = None,
        *,
        n_features: int | None = None,
        trained: Trained | File | None = None,
        explore: float = 1.0,
    ) -> None:
        """Make a model of another name beside the others.

        Parameters
        ----------
        name
            Letters, digits, ``_``, ``-`` and ``.``; at most 64.
        policy, n_features, trained
            As for the recommender; of ``trained``, also the bytes of the file.
        explore
            Share of its lists that explore; the others show the best as far as is known.
        """
        name = model_name(name)
        explore = validation.number("explore", explore, low=0, high=1)
        if trained is None:
            made = ModelMade.of(name, make_policy(policy, n_features))
        else:
            made = made_of(name, trained)
        if explore < 1:
            Model.made(made).check_greedy()
            made.start["explore"] = explore

        def make() -> None:
            self._models.check_served(name)
            if name not in self._models.models and name not in self._models.experiments:
                position = self._writer.record(made)
                self._models.check_served(name)
                if self._models.made_at(name) == position:
                    return
            raise InvalidArgument(f"name must be that of a new model, got {name!r} again")

        self._call(make)

    def delete_model(self, name: str) -> None:
        """Delete a model; its events stay in the log, and its name is free again."""

        def delete() -> None:
            for running in self._models.experiments.values():
                if name in running.models:
                    raise InvalidArgument(
                        f"name must not be that of a model in an experiment, got {name!r}, which "
                        f"is in {running.put.name!r}"
                    )
            if name not in self._models.aside:
                self._models[name]
            self._writer.record(ModelGone(name))

        self._call(delete)

    # -- experiments ---------------------------------------------------------------------------

    @property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments that run, by name."""
        return self._models.experiments

    @property
    def ended(self) -> dict[str, Experiment]:
        """The last experiments that ended, by name; see :meth:`experiment`."""
        return self._models.ended

    def create_experiment(
        self,
        name: str,
        arms: Mapping[str, tuple[str, float] | tuple[str, float, float | None]],
        *,
        mode: str = "ab",
    ) -> None:
        """Assign users to models: lists asked for in the experiment's name are those of an arm.

        All models of the experiment learn from all of its lists. Lists that are asked for in the
        name of one of the models are that model's alone.

        Parameters
        ----------
        name
            As for a model, and the name of none.
        arms
            Model and share of users of each arm, and the share of its lists that explore (0: none)
            if it is not the model's. The others are compared with the first one. An arm of share 0
            is a shadow model: it learns, and serves nobody.
        mode
            ``"ab"``: each user gets the lists of one arm, always the same. ``"interleave"``: every
            list is made of both arms' rankings, as a screen.
        """
        read = read_arms(arms, mode, self._models.models)
        event = ExperimentPut(model_name(name), mode, read)

        def begin() -> None:
            models = [self._models[arm[1]] for arm in event.arms]
            check_models(models, [arm[3] for arm in event.arms])
            if name not in self._models.models and name not in self._models.experiments:
                position = self._writer.record(event)
                if self._models.experiments[name].position == position:
                    return
            raise InvalidArgument(f"name must be new, got {name!r} again")

        self._call(begin)

    def delete_experiment(self, name: str) -> None:
        """End an experiment; its models stay, and what it found can still be read."""

        def end() -> None:
            if name not in self._models.experiments:
                raise unknown_name("experiment", name, self._models.experiments)
            self._writer.record(ExperimentGone(name))

        self._call(end)

    def experiment(self, name: str) -> dict[str, Any]:
        """Tell what the log says of an experiment, until now or its end: alike on all servers.

        By name, the one that runs, or else the last one that ended.
        """
        self._check_open()
        known = self._models.ended | self._models.experiments
        if name not in known:
            raise unknown_name("experiment", name, known)
        asked = known[name]
        until = asked.ended or self._models.position
        if self._store.first() > asked.position:
            raise InvalidArgument(
                f"experiment must be one whose log is kept, got {name!r}, which began at event "
                f"{asked.position}; the log begins at {self._store.first()}"
            )

        def events(after: int) -> Iterator[tuple[int, Event]]:
            return read_events(self._store.events(after, until))

        with self._telling:
            found = self._results.get(name)
            if found is None or found.experiment != asked:
                found = Results(asked)
            found = found.follow(events)
            kept = self._results | {name: found}
            self._results = {key: each for key, each in kept.items() if key in self.experiments}
            return found.tell()

    # -- users ---------------------------------------------------------------------------------

    def forget_user(self, user: Hashable, *, model: str = DEFAULT_MODEL) -> int:
        """Forget a user: the model is made anew without what it learned from them.

        Their events and decisions cannot be read any more, by anyone. It takes as long as the
        model's log takes to learn. What a policy knew before the model was made of it stays.

        Returns
        -------
        int
            The position from which on they are forgotten.
        """
        name = user_id(user)
        known = self._models.related(model) & self._models.models.keys()
        name = self._models.known_as(name, known)
        self._call(self._writer.check_writable)  # lists on their way are durable now
        with self._forgetting:
            position = forget(
                self._store,
                model,
                name,
                related=self._models.related(model),
                exists=model in self._models.models or model in self._models.aside,
                call=self._call,
                log=lambda event: int(self._call(partial(self._writer.record, event))),
            )
        self._recent.forget_durable()
        self.snapshot()
        self._call(partial(self._chores.drop_before, position))
        return position

    # -- items ---------------------------------------------------------------------------------

    def register_items(
        self,
        ids: Iterable[Hashable],
        items: npt.ArrayLike | None = None,
        *,
        columns: Sequence[Mapping[str, Any]] | None = None,
        metadata: Sequence[Mapping[str, Any] | None] | None = None,
        model: str = DEFAULT_MODEL,
    ) -> int:
        """Add items to a model's catalogue, or give those it has other features.

        Parameters
        ----------
        ids
            One name per item: a str or an int.
        items
            One row of features per item, of Euclidean norm at most 1.
        columns
            Instead, one row of the table of items each, for a model that was trained with one.
        metadata
            What is known of each item besides, by column: text, numbers, truth values, None, lists
            of these; None leaves it as it was. By default the columns. Alone, it changes the
            metadata of items that are registered.
        model
            Name of the model.

        Returns
        -------
        int
            Number of items in the catalogue now.
        """
        target = self._models[model]
        names = item_names("ids", map(target.item_as, item_names("ids", ids)))
        rows = None if metadata is None else described("metadata", metadata, len(names))
        if items is not None and columns is not None:
            raise InvalidArgument("columns must be given without items, got both")
        if columns is not None:
            features, own = by_row(target, names, described("columns", columns, len(names)))
            rows = [old | (new or {}) for old, new in zip(own, rows or own, strict=True)]
        elif items is not None:
            features = validation.feature_rows("items", items, target.policy.n_features)
        elif rows is not None:
            features = target.candidates(names)
        else:
            raise InvalidArgument("items must be given, or columns, or metadata, got none")
        if len(names) != len(features):
            raise InvalidArgument(f"ids must name {len(features)} items, got {len(names)} names")
        event = ItemsPut(model, names, np.array(features), None if rows is None else tuple(rows))

        def put() -> int:
            target.check(event)
            self._writer.record(event)
            return len(self._models[model].catalog or ())

        return int(self._call(put))

    def remove_items(self, ids: Iterable[Hashable], *, model: str = DEFAULT_MODEL) -> int:
        """Take items out of a model's catalogue; lists that were shown are still learned from.

        Returns
        -------
        int
            How many of these items were there.
        """
        names = tuple(map(self._models[model].item_as, item_names("ids", ids)))

        def remove() -> int:
            catalog = self._models[model].catalog
            known = () if catalog is None else catalog._index
            found = tuple(name for name in names if name in known)
            if found:
                self._writer.record(ItemsGone(model, found))
            return len(found)

        return int(self._call(remove))

    # -- lists ---------------------------------------------------------------------------------

    def recommend(
        self,
        user: Hashable,
        k: int,
        items: npt.ArrayLike | Catalog | None = None,
        *,
        ids: Sequence[Hashable] | None = None,
        candidates: Sequence[Hashable] | None = None,
        model: str = DEFAULT_MODEL,
        request_id: str | None = None,
        exclude_seen: bool = False,
        filter: str | None = None,
        greedy: bool = False,
        explore: float | None = None,
    ) -> Decision:
        """Return a list to show, with the id by which its feedback is known.

        Parameters
        ----------
        user
            A str or an int; unknown users are welcome.
        k
            Length of the list.
        items
            What may be shown: one row of features per item, or a catalogue. By default all
            registered items.
        ids
            Names of the rows of ``items``; by default the row numbers.
        candidates
            Ids of registered items, instead of ``items``.
        model
            Name of the model.
        request_id
            The same id gets the same decision again, also after a restart: for retries.
        exclude_seen
            Leave out registered items that the user clicked: before training, and the last 500
            since. The list is shorter if fewer items are left, also with a filter.
        filter
            Which registered items may be shown, by their metadata, such as
            ``'category = "tea" and price < 20'``: see ``clubcascade.service.metadata``.
        greedy
            Show what is best as far as is known, without exploration.
        explore
            Instead of the model's: the probability that this list explores; 0 is greedy.
        """
        ask = Ask(
            user,
            k,
            items,
            ids,
            candidates,
            model,
            request_id,
            exclude_seen,
            filter,
            greedy,
            explore,
        )
        self._check_open()
        if not self._decider.waits:
            return self._decider.decide(ask, self._queue.put_quietly)
        return self._recommend_durably(ask)

    async def recommend_async(self, ask: Ask) -> Decision:
        """Do what :meth:`recommend` does, without blocking the event loop on the disk."""
        self._check_open()
        decide = self._decider.decide
        if not self._decider.waits:
            if self._decider.looks_far(ask):
                return await asyncio.to_thread(decide, ask, self._queue.put_quietly)
            return decide(ask, self._queue.put_quietly)
        return await asyncio.to_thread(self._recommend_durably, ask)

    def _recommend_durably(self, ask: Ask) -> Decision:
        """Return a decision once it, and the one that a request is known by, is on the disk."""
        future: concurrent.futures.Future[Decision] = concurrent.futures.Future()

        def put(decision: Decision) -> None:
            self._queue.put(DecisionWork(future, decision))
            new.append(decision)

        new: list[Decision] = []
        decision = self._decider.decide(ask, put)
        if new:
            future.result()
        else:
            self._call(lambda: None)  # an earlier one is on its way
        return self._first_of(decision)

    def _first_of(self, decision: Decision) -> Decision:
        """Return the decision that is known by a request: another server may have been faster."""
        if decision.request is None:
            return decision
        self._recent.forget([decision])
        return self._decider.earlier(decision.request) or decision

    def served_by(self, decision_id: str) -> str | None:
        """Return the model that made a list, if the list is still in memory."""
        decision = self._recent.find(parse_id(decision_id))
        return None if decision is None or decision.id != decision_id else decision.model

    # -- feedback ------------------------------------------------------------------------------

    def feedback(
        self, decision_id: str, click: Click = None, *, model: str | None = None
    ) -> Outcome:
        """Learn where the user clicked; durable when this returns.

        Parameters
        ----------
        decision_id
            The id of the decision that was shown.
        click
            First clicked position (0-based), None for no click, or a
            :class:`clubcascade.Feedback`.
        model
            If named, decisions of other models are unknown.
        """
        (answer,) = self.feedback_many([(decision_id, click)], model=model)
        if isinstance(answer, ClubCascadeError):
            raise answer
        return answer

    def feedback_many(
        self, answers: Iterable[tuple[str, Click]], *, model: str | None = None
    ) -> list[Outcome | ClubCascadeError]:
        """Learn from several answers in one commit, in order: an outcome or an error for each."""
        self._check_open()
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        pieces = [(decision_id, model, click) for decision_id, click in answers]
        self._queue.put(FeedbackWork(future, pieces))
        found: list[Outcome | ClubCascadeError] = future.result()
        return found

    def feedback_async(
        self, answers: Iterable[tuple[str, Click]], *, model: str | None = None
    ) -> asyncio.Future[list[Outcome | ClubCascadeError]]:
        """Do what :meth:`feedback_many` does, in an event loop."""
        self._check_open()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pieces = [(decision_id, model, click) for decision_id, click in answers]
        self._queue.put(FeedbackWork(future, pieces))
        return future

    # -- keeping -------------------------------------------------------------------------------

    def digest(self, model: str | None = None) -> str:
        """Return the SHA-256 of what was learned, with items and counters: of a model or of all."""
        return self.digest_at(model)[1]

    def digest_at(self, model: str | None = None) -> tuple[int, str]:
        """Return a position in the log and the digest there: that of every server at this place."""
        self._check_open()
        return self._models.digest(model)

    @property
    def position(self) -> int:
        """Up to where in the log this server has learned."""
        return self._models.position

    @property
    def lag(self) -> int:
        """How many events of the log this server has not learned yet, or -1 if it cannot tell."""
        try:
            return max(self._store.head() - self._models.position, 0)
        except StoreError:
            return -1

    @property
    def server(self) -> int:
        """Number of this server, that of no other on this store."""
        return self._store.server

    def follow(self) -> int:
        """Take in all that the log has now; return the position."""
        self._call(self._writer.catch_up)
        return self._models.position

    def snapshot(self) -> int:
        """Write a snapshot now; return its position in the log."""
        frozen = self._call(self._models.freeze)
        self._chores.save(frozen)
        return int(frozen.position)

    def look_after(self) -> None:
        """Do now what is done every second: log answers that never came, drop what is too old."""
        self._call(self._writer.look_after)

    @property
    def waiting(self) -> int:
        """Number of durable decisions that have no answer yet."""
        try:
            self._waiting = self._store.waiting()
        except StoreError:
            pass  # as it was
        return self._waiting

    @property
    def backlog(self) -> int:
        """How much work waits for the writer."""
        return self._queue.backlog()

    @property
    def commits(self) -> int:
        """Number of commits since the start; each made a whole group durable."""
        return self._writer.commits

    @property
    def problem(self) -> str | None:
        """Why nothing can be written now; None if all is well."""
        return self._writer.problem

    @property
    def snapshot_problem(self) -> str | None:
        """Why the last snapshot could not be written; None if it could."""
        return self._chores.snapshot_problem

    @property
    def failure(self) -> BaseException | None:
        """What ended the writer for good, None while it lives: start the process anew."""
        return self._writer.dead

    def _call(self, call: Callable[[], Any]) -> Any:
        self._check_open()
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._queue.put(CallWork(future, call))
        return future.result()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the recommender is closed")
        if self._writer.dead is not None:  # what is not written must not be served
            raise StoreUnavailable(self._writer.problem or "the writer has stopped")

    def close(self) -> None:
        """Finish what was asked, then let the store go. Once is enough; twice does no harm."""
        if self._closed:
            return
        self._closed = True
        self._writer.stop()
        self._chores.finish()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"Recommender({', '.join(self.models) or 'no models'}; {self._models.position} events)"
        )
