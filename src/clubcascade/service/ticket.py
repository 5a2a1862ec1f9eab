"""A place in the writer's queue: what a caller waits on, in a thread or in an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Any

from clubcascade.errors import StoreError


class Ticket:
    """Holds an answer or an error, once the writer has one.

    Parameters
    ----------
    loop
        The event loop of a caller that awaits; None for one that blocks its thread.
    then
        Called in the event loop with the ticket; for a caller that does not await.
    """

    __slots__ = ("_future", "_gate", "answer", "error", "loop", "settled", "then")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None = None,
        then: Callable[[Ticket], None] | None = None,
    ) -> None:
        self.answer: Any = None
        self.error: BaseException | None = None
        self.settled = False
        self.loop, self.then = loop, then
        if then is not None:
            return
        if loop is None:
            self._gate = threading.Lock()
            self._gate.acquire()
        else:
            self._future: asyncio.Future[Any] = loop.create_future()

    def wait(self) -> Any:
        """Block until there is an answer; return it or raise the error."""
        self._gate.acquire()
        if self.error is not None:
            raise self.error
        return self.answer

    def future(self) -> asyncio.Future[Any]:
        """Return what a coroutine awaits."""
        return self._future


def settle(tickets: Iterable[Ticket]) -> None:
    """Wake the callers: one call into each event loop, however many wait there."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Ticket]] = {}
    for ticket in tickets:
        ticket.settled = True
        if ticket.loop is None:
            ticket._gate.release()
        else:
            by_loop.setdefault(ticket.loop, []).append(ticket)
    for loop, group in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, group)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more


def reject(tickets: Iterable[Ticket], error: StoreError) -> None:
    """Tell callers without an answer that nothing was done; each gets an error of its own."""
    refused = [ticket for ticket in tickets if not ticket.settled]
    for ticket in refused:
        ticket.answer, ticket.error = None, type(error)(str(error))
    settle(refused)


def _resolve(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        if ticket.then is not None:
            ticket.then(ticket)
            continue
        future = ticket._future
        if future.done():
            continue  # the caller went away
        if ticket.error is not None:
            future.set_exception(ticket.error)
        else:
            future.set_result(ticket.answer)
