"""What time brings: answers that never came, old decisions, snapshots, a shorter log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from clubcascade.errors import StoreDamaged, StoreError
from clubcascade.service.book import Book
from clubcascade.service.frozen import Frozen
from clubcascade.service.plan import FORGOTTEN, Plan
from clubcascade.service.records import Record
from clubcascade.storage import Store

KEPT_SNAPSHOTS = 2
EVERY = 1.0
"""Seconds between two looks."""
STEP = 5_000
"""Rows that one look drops, at most: a commit must not wait long for it."""
ABSENT_STEP = 500

_log = logging.getLogger("clubcascade.service")


class Upkeep:
    """The recommender's clock and its chores. All but the saving of snapshots is the writer's.

    Parameters
    ----------
    clock
        Seconds since 1970; the only clock that decides what is late.
    wait
        Seconds that feedback may take.
    count_absent
        Whether feedback that never comes counts as no click.
    snapshot_every
        Events between two snapshots.
    compact
        Whether events that two snapshots hold are dropped from the log.
    """

    def __init__(
        self,
        store: Store,
        book: Book,
        *,
        clock: Callable[[], float],
        wait: float,
        count_absent: bool,
        snapshot_every: int,
        compact: bool,
    ) -> None:
        self._store, self._book, self._clock = store, book, clock
        self.wait = int(wait * 1000)
        self._counts_absent = count_absent
        self._every, self._compact = snapshot_every, compact
        self._looked_at = 0
        self._tried = self._saved = book.loaded
        self._loaded = {book.loaded}  # snapshots that were read back
        self._saving = threading.Lock()
        self._thread: threading.Thread | None = None
        self.waiting = store.waiting()
        self.snapshot_problem: str | None = None
        self.due = time.monotonic() + EVERY

    def now(self) -> int:
        """Return the time in milliseconds."""
        return int(self._clock() * 1000)

    # -- answers -------------------------------------------------------------------------------

    def answered(self, plan: Plan) -> None:
        """Count what waits, after a commit."""
        self.waiting += len(plan.records) - len(plan.answers)

    def absent(self) -> Iterator[list[Record]]:
        """Yield, in groups, the decisions whose wait is over without an answer."""
        while self._counts_absent:
            before = self.now() - self.wait
            rows = self._store.unanswered(self._looked_at, before, ABSENT_STEP)
            if not rows:
                return
            yield [Record.read(row) for row in rows]
            self._looked_at = rows[-1].number

    def log_absence(self, plan: Plan, record: Record) -> None:
        """Count a decision without an answer as one without a click."""
        if record.kind is None and record.number not in plan.answers:
            plan.log(record, "absent", (len(record.ids), ()))

    def tidy(self) -> None:
        """Drop what is no longer needed, a little at a time."""
        more = self._store.forget_decisions(self.now() - FORGOTTEN * self.wait, STEP)
        found = self._store.snapshots()
        good = [number for number in found if number in self._loaded]
        if len(good) >= KEPT_SNAPSHOTS:
            oldest = good[KEPT_SNAPSHOTS - 1]
            if oldest != found[-1]:
                self._store.drop_snapshots(found.index(oldest) + 1)
            if self._compact and not self._book.aside:
                more += self._store.forget_events(oldest, STEP)
        self.due = time.monotonic() + (EVERY if more < STEP else 0.05)

    # -- snapshots -----------------------------------------------------------------------------

    def maybe_snapshot(self) -> None:
        """Start a snapshot if enough was learned since the last one; called by the writer."""
        if self._book.number - self._tried < self._every or self._saving.locked():
            return
        self._tried = self._book.number
        frozen = self._book.freeze()
        self._thread = threading.Thread(target=self._save_quietly, args=[frozen], daemon=True)
        self._thread.start()

    def _save_quietly(self, frozen: Frozen) -> None:
        try:
            self.save(frozen)
        except StoreError as error:
            _log.warning("no snapshot of event %d: %s", frozen.number, error)

    def save(self, frozen: Frozen) -> None:
        """Keep a snapshot that was frozen by the writer; it counts once it was read back."""
        with self._saving:
            if frozen.number <= self._saved:
                return
            try:
                self._store.save_snapshot(frozen.number, frozen.chunks())
                self._read_back(frozen)
            except StoreError as error:
                self.snapshot_problem = str(error)
                raise
            self._saved, self.snapshot_problem = frozen.number, None
            self._loaded.add(frozen.number)

    def _read_back(self, frozen: Frozen) -> None:
        """Raise unless the store gives a snapshot back, and every model in it can be made anew."""
        read = Frozen.read(self._store.load_snapshot(frozen.number))
        if self._book.put_unreadable_aside(frozen, read):
            raise StoreDamaged(f"snapshot {frozen.number} holds a model that cannot be read")

    def finish(self) -> None:
        """Wait for a snapshot that is being written."""
        if self._thread is not None:
            self._thread.join()
