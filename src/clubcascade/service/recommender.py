"""The recommender: lists for users, feedback that is never lost. No HTTP here."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Policy
from clubcascade.errors import ClubCascadeError, InvalidArgument, StoreUnavailable
from clubcascade.service.asking import DEFAULT_MODEL, Ask
from clubcascade.service.deciding import Decider
from clubcascade.service.decision import Decision, Outcome, parse_id
from clubcascade.service.intake import CallWork, Intake
from clubcascade.service.making import made_alike, make_policy
from clubcascade.service.model import Model
from clubcascade.service.names import item_names, model_name
from clubcascade.service.plan import Click, FeedbackWork
from clubcascade.service.records import ItemsGone, ItemsPut, ModelMade
from clubcascade.service.recovery import open_book
from clubcascade.service.shelf import Shelf
from clubcascade.service.ticket import Ticket
from clubcascade.service.upkeep import Upkeep
from clubcascade.service.writer import Writer

DAY = 86_400.0

_log = logging.getLogger("clubcascade.service")


class Recommender:
    """Ranks for users, learns from their clicks, and forgets nothing that it acknowledged.

    Feedback is validated, deduplicated, appended to a log, synchronised with the disk, learned,
    and then acknowledged, in this order. It may come late, twice, out of order or after a restart.
    What was learned is a function of the log alone: a restart is the same model to the bit.

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
    wait
        Seconds that feedback may take, by this machine's clock; what comes later is logged and not
        learned. Decisions are forgotten after twice that time.
    absent
        What feedback that never comes teaches: nothing (``"ignore"``) or ``"no_click"``.
    durable_decisions
        Whether ``recommend`` returns only when its decision is on the disk. Otherwise decisions
        follow within a few hundredths of a second, and a crash in between makes their feedback
        ``unknown``.
    snapshot_every
        Events between two snapshots.
    compact
        Whether events that two snapshots hold are dropped from the log.
    takeover
        PostgreSQL: take the store from a process that no longer answers.
    repair
        Go on from the last good event if the log is damaged. What is lost is said in ``notes``.
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
        wait: float = DAY,
        absent: Literal["ignore", "no_click"] = "ignore",
        durable_decisions: bool = False,
        snapshot_every: int = 20_000,
        compact: bool = True,
        takeover: bool = False,
        repair: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        wait = validation.number("wait", wait, low=0, open_low=True)
        snapshot_every = validation.whole("snapshot_every", snapshot_every, low=1)
        validation.choice("absent", absent, ("ignore", "no_click"))
        first = make_policy(policy, n_features) if policy or n_features is not None else None
        self._closed = False
        opened, self._book, self.notes = open_book(store, takeover=takeover, repair=repair)
        for note in self.notes:
            _log.warning("%s", note)
        self._store = opened
        try:
            self._shelf = Shelf(opened)
            self._upkeep = Upkeep(
                opened,
                self._book,
                clock=clock,
                wait=wait,
                count_absent=absent == "no_click",
                snapshot_every=snapshot_every,
                compact=compact,
            )
            self._intake = Intake()
            self._writer = Writer(self._intake, opened, self._book, self._shelf, self._upkeep)
            self._decider = Decider(
                opened,
                self._book,
                self._shelf,
                self._upkeep,
                self._intake,
                durable=bool(durable_decisions),
            )
        except BaseException:
            opened.close()
            raise
        if first is not None:
            self._ensure_first(first, policy)

    def _ensure_first(self, mine: Policy, asked: Policy | str | None) -> None:
        try:
            if DEFAULT_MODEL in self._book.aside:
                return  # the others are served
            if DEFAULT_MODEL not in self._book.models:
                self.create_model(DEFAULT_MODEL, mine)
                return
            kept = self._book[DEFAULT_MODEL].policy
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
        return tuple(self._book.models)

    @property
    def aside(self) -> dict[str, str]:
        """Why models are not served, by name: they cannot be read; the log keeps what is theirs."""
        return {name: aside.reason for name, aside in self._book.aside.items()}

    def model(self, name: str = DEFAULT_MODEL) -> Model:
        """Return a model: its ``policy``, ``catalog``, ``counters`` and ``version``; only to read.

        Its policy learns on by itself; take ``lock`` for several looks at one state.
        """
        return self._book[name]

    def create_model(
        self, name: str, policy: Policy | str | None = None, *, n_features: int | None = None
    ) -> None:
        """Make a model of another name beside the others.

        Parameters
        ----------
        name
            Letters, digits, ``_``, ``-`` and ``.``; at most 64.
        policy, n_features
            As for the recommender.
        """
        name = model_name(name)
        made = ModelMade.of(name, make_policy(policy, n_features))

        def make() -> None:
            self._book.check_served(name)
            if name in self._book.models:
                raise InvalidArgument(f"name must be that of a new model, got {name!r} again")
            self._writer.record(made)

        self._call(make)

    # -- items ---------------------------------------------------------------------------------

    def register_items(
        self, ids: Iterable[Hashable], items: npt.ArrayLike, *, model: str = DEFAULT_MODEL
    ) -> int:
        """Add items to a model's catalogue, or give those it has other features.

        Parameters
        ----------
        ids
            One name per item: a str or an int.
        items
            One row of features per item, of Euclidean norm at most 1.
        model
            Name of the model.

        Returns
        -------
        int
            Number of items in the catalogue now.
        """
        target = self._book[model]
        features = validation.feature_rows("items", items, target.policy.n_features)
        names = item_names("ids", ids)
        if len(names) != len(features):
            raise InvalidArgument(f"ids must name {len(features)} items, got {len(names)} names")
        event = ItemsPut(model, names, np.array(features))

        def put() -> int:
            target.check(event)
            self._writer.record(event)
            return len(target.catalog or ())

        return int(self._call(put))

    def remove_items(self, ids: Iterable[Hashable], *, model: str = DEFAULT_MODEL) -> int:
        """Take items out of a model's catalogue; lists that were shown are still learned from.

        Returns
        -------
        int
            How many of these items were there.
        """
        target = self._book[model]
        names = item_names("ids", ids)

        def remove() -> int:
            known = () if target.catalog is None else target.catalog._index
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
        """
        ask = Ask(user, k, items, ids, candidates, model, request_id)
        self._check_open()
        record, ticket = self._decider.decide(ask, None)
        if ticket is not None:
            ticket.wait()
        return record.decision()

    async def recommend_async(self, ask: Ask) -> Decision:
        """Do what :meth:`recommend` does, without blocking the event loop on the disk."""
        self._check_open()
        loop = asyncio.get_running_loop()
        if self._decider.looks_far(ask):
            record, ticket = await asyncio.to_thread(self._decider.decide, ask, loop)
        else:
            record, ticket = self._decider.decide(ask, loop)
        if ticket is not None:
            await ticket.future()
        return record.decision()

    def recommend_at_once(self, ask: Ask) -> Decision | None:
        """Do what :meth:`recommend` does; None if that would have to wait for a disk or a network.

        For event loops: ranking takes microseconds, so it is done where it is asked for.
        """
        self._check_open()
        if self._decider.waits(ask):
            return None
        return self._decider.decide(ask, None)[0].decision()

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
        (answer,) = self._submit([(decision_id, click)], model, Ticket()).wait()
        if isinstance(answer, ClubCascadeError):
            raise answer
        outcome: Outcome = answer
        return outcome

    def feedback_many(
        self, answers: Iterable[tuple[str, Click]], *, model: str | None = None
    ) -> list[Outcome | ClubCascadeError]:
        """Learn from several answers in one commit, in order: an outcome or an error for each."""
        found: list[Outcome | ClubCascadeError] = self._submit(answers, model, Ticket()).wait()
        return found

    async def feedback_async(
        self, answers: Iterable[tuple[str, Click]], *, model: str | None = None
    ) -> list[Outcome | ClubCascadeError]:
        """Do what :meth:`feedback_many` does, in an event loop."""
        ticket = Ticket(asyncio.get_running_loop())
        self._submit(answers, model, ticket)
        found: list[Outcome | ClubCascadeError] = await ticket.future()
        return found

    def feedback_soon(
        self,
        answers: Iterable[tuple[str, Click]],
        then: Callable[[Ticket], None],
        *,
        model: str | None = None,
    ) -> None:
        """Do what :meth:`feedback_async` does; calls ``then`` with a ticket in the event loop."""
        self._submit(answers, model, Ticket(asyncio.get_running_loop(), then))

    def _submit(
        self,
        answers: Iterable[tuple[str, Click]],
        model: str | None,
        ticket: Ticket,
    ) -> Ticket:
        self._check_open()
        items: list[tuple[int, str, str | None, Click] | None] = []
        for decision_id, click in answers:
            parsed = parse_id(decision_id)
            items.append(None if parsed is None else (*parsed, model, click))
        work = FeedbackWork(ticket, items)
        if ticket.loop is None:
            self._intake.put(work)
        else:
            self._intake.put_soon(work, ticket.loop)
        return ticket

    # -- keeping -------------------------------------------------------------------------------

    def digest(self, model: str | None = None) -> str:
        """Return the SHA-256 of what was learned, with items and counters: of a model or of all."""
        if model is not None:
            self._book[model]
        return str(self._call(lambda: self._book.digest(model)))

    def snapshot(self) -> int:
        """Write a snapshot now; return the number of the last event in it."""
        frozen = self._call(self._book.freeze)
        self._upkeep.save(frozen)
        return int(frozen.number)

    def look_after(self) -> None:
        """Do now what is done every second: count absent answers, drop what is too old."""
        self._call(self._writer.look_after)

    @property
    def waiting(self) -> int:
        """Number of durable decisions that have no answer yet."""
        return self._upkeep.waiting

    @property
    def backlog(self) -> int:
        """How much work waits for the writer."""
        return self._intake.backlog()

    @property
    def commits(self) -> int:
        """Number of commits since the start; each made a whole group durable."""
        return self._writer.commits

    @property
    def problem(self) -> str | None:
        """Why nothing can be written now; None if all is well."""
        return self._writer.problem

    @property
    def failure(self) -> BaseException | None:
        """What ended the writer for good, None while it lives: start the process anew."""
        return self._writer.dead

    def _call(self, call: Callable[[], Any]) -> Any:
        self._check_open()
        ticket = Ticket()
        self._intake.put(CallWork(ticket, call))
        return ticket.wait()

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
        self._upkeep.finish()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Recommender({', '.join(self.models) or 'no models'}; {self._book.number} events)"
