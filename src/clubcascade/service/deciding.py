"""From a question to a decision: rank, name, remember, and hand over to the writer."""

from __future__ import annotations

import asyncio
import threading
from itertools import count

from clubcascade.core import Catalog, Floats
from clubcascade.errors import InvalidArgument
from clubcascade.service.asking import Ask, offer
from clubcascade.service.book import Book
from clubcascade.service.decision import tags
from clubcascade.service.intake import Intake
from clubcascade.service.model import Model
from clubcascade.service.names import request_name, user_id
from clubcascade.service.plan import DecisionWork
from clubcascade.service.records import Record
from clubcascade.service.shelf import Shelf
from clubcascade.service.ticket import Ticket
from clubcascade.service.upkeep import Upkeep
from clubcascade.storage import Store


class Decider:
    """Makes decisions, in whatever thread asks for them.

    Parameters
    ----------
    store, book, shelf, upkeep, intake
        Those of the recommender.
    durable
        Whether a decision is waited for until it is on the disk.
    """

    def __init__(
        self,
        store: Store,
        book: Book,
        shelf: Shelf,
        upkeep: Upkeep,
        intake: Intake,
        *,
        durable: bool,
    ) -> None:
        self._book, self._shelf, self._upkeep, self._intake = book, shelf, upkeep, intake
        self._durable, self._remote = durable, store.remote
        self._numbers, self._tags = count(store.last_decision() + 1), tags()
        self._naming, self._requesting = threading.Lock(), threading.Lock()

    def looks_far(self, ask: Ask) -> bool:
        """Tell whether a look across a network comes before the answer."""
        return ask.request_id is not None and self._remote

    def waits(self, ask: Ask) -> bool:
        """Tell whether the answer has to wait for a disk or a network."""
        return self._durable or self.looks_far(ask)

    def decide(
        self, ask: Ask, loop: asyncio.AbstractEventLoop | None
    ) -> tuple[Record, Ticket | None]:
        """Return a decision, the earlier one for a request that was seen before.

        The ticket, if there is one, is to be waited for, in ``loop`` or in this thread.
        """
        target = self._book[ask.model]
        user = user_id(ask.user)
        if user is not ask.user:
            ask = ask._replace(user=user)
        if ask.request_id is None:
            return self._rank(target, ask, None, loop)
        request = f"{ask.model}/{request_name(ask.request_id)}"
        with self._requesting:
            earlier = self._shelf.find_request(request)
            if earlier is None:
                return self._rank(target, ask, request, loop)
        if earlier.user != ask.user or len(earlier.ids) != ask.k:
            raise InvalidArgument(
                f"request_id must be new for another request, got {ask.request_id!r} again for "
                f"user {ask.user!r} and k={ask.k!r}"
            )
        return earlier, None

    def _rank(
        self,
        target: Model,
        ask: Ask,
        request: str | None,
        loop: asyncio.AbstractEventLoop | None,
    ) -> tuple[Record, Ticket | None]:
        offered, names = offer(target, ask)
        rows, scores, version = target.rank(ask.user, offered, ask.k)
        table: Floats = offered._rows if isinstance(offered, Catalog) else offered
        with self._naming:
            number, tag = next(self._numbers), next(self._tags)
        record = Record(
            number,
            tag,
            target.name,
            ask.user,
            self._upkeep.now(),
            tuple([names[row] for row in rows]),
            table.take(rows, axis=0).tobytes(),
            scores,
            version,
            request,
        )
        self._shelf.add(record)
        if not self._durable:
            self._intake.put_quietly(record)
            return record, None
        ticket = Ticket(loop)
        self._intake.put(DecisionWork(record, ticket))
        return record, ticket
