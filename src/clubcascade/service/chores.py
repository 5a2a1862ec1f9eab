"""What time brings: answers that never came, old decisions, snapshots. One server does it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from clubcascade.errors import MissingExtra, StoreDamaged, StoreError
from clubcascade.service.decision import Decision
from clubcascade.service.models import Frozen, Models
from clubcascade.storage import Store
from clubcascade.storage.base import Prepared

KEPT_SNAPSHOTS = 2
EVERY = 1.0
"""Seconds between two looks."""
STEP = 5_000
"""Rows that one look drops, at most: a commit must not wait long for it."""
ABSENT_STEP = 500
FORGOTTEN = 2
"""Decisions are forgotten after so many times the wait."""

_log = logging.getLogger("clubcascade.service")


class Chores:
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
    keep
        Days that events are kept in the archive, None for ever.
    """

    def __init__(
        self,
        store: Store,
        models: Models,
        *,
        clock: Callable[[], float],
        wait: float,
        count_absent: bool,
        snapshot_every: int,
        keep: float | None = None,
    ) -> None:
        self._store, self._models, self._clock = store, models, clock
        self.wait = int(wait * 1000)
        self.counts_absent = count_absent
        self._checked = 0  # decisions made before this time have an answer, or an event for none
        self._every = snapshot_every
        self._keep = None if keep is None else int(keep * 86_400_000)
        self._behind = 0  # where old events were last looked for
        self._segment: Prepared | None = None
        self._archiving: threading.Thread | None = None
        self._tried = models.loaded
        self._good = {models.loaded} - {0}  # snapshots that were read back
        self._saving = threading.Lock()
        self._thread: threading.Thread | None = None
        self.leads = store.leads()
        self.snapshot_problem: str | None = None
        self.due = time.monotonic() + EVERY

    def now(self) -> int:
        """Return the time in milliseconds."""
        return int(self._clock() * 1000)

    def unanswered(self) -> list[Decision]:
        """Return some of the decisions that count as absent, or have expired, now."""
        if not self.leads:
            return []
        self._checked = self.now() - (1 if self.counts_absent else FORGOTTEN) * self.wait
        rows = self._store.unanswered(self._checked, ABSENT_STEP)
        return [Decision.of(row) for row in rows]

    def tidy(self) -> None:
        """Drop what is no longer needed, a little at a time."""
        if not self.leads:
            return
        old = min(self.now() - FORGOTTEN * self.wait, self._checked)
        gone = self._store.forget_decisions(old, STEP)
        self._drop_snapshots()
        self._archive()
        self.due = time.monotonic() + (EVERY if gone < STEP else 0.05)

    def _drop_snapshots(self) -> None:
        """Keep the newest that were read back, and the one with which the log begins."""
        found, first, erased = self._store.snapshots(), self._store.first(), self._models.erased
        good = [position for position in found if position in self._good]
        kept = set(found)
        if len(good) >= KEPT_SNAPSHOTS:
            kept = {*good[:KEPT_SNAPSHOTS], *(p for p in found if p > good[KEPT_SNAPSHOTS - 1])}
            if first > 1:
                kept.add(min(p for p in found if p >= min(first - 1, found[0])))
        if good and good[0] >= erased:  # those before hold someone who is forgotten
            kept = {position for position in kept if position >= erased}
        self._store.drop_snapshots([position for position in found if position not in kept])

    # -- the archive ---------------------------------------------------------------------------

    def _archive(self) -> None:
        """Move old events: a thread writes their file, the writer lets it stand for them."""
        if self._archiving is not None and self._archiving.is_alive():
            return
        segment, self._segment = self._segment, None
        if segment is not None and self._store.move(segment):
            self._behind = 0  # perhaps there are more
        if self._keep is not None:
            self._store.drop_segments(self.now() - self._keep)
        behind = min(self._good & set(self._store.snapshots()), default=0)
        if behind > self._behind:
            self._behind = behind
            self._archiving = threading.Thread(target=self._write_segment, daemon=True)
            self._archiving.start()

    def _write_segment(self) -> None:
        try:
            self._segment = self._store.segment(self._behind)
        except (StoreError, MissingExtra) as error:
            _log.warning("no events were moved to the archive: %s", error)

    # -- snapshots -----------------------------------------------------------------------------

    def maybe_snapshot(self) -> None:
        """Start a snapshot if enough was learned since the last one; called by the writer."""
        behind = self._models.position - self._tried
        wanted = behind >= self._every or self._models.erased > self._tried
        if not (self.leads and wanted) or self._saving.locked():
            return
        self._tried = self._models.position
        frozen = self._models.freeze()
        self._thread = threading.Thread(target=self._save_quietly, args=[frozen], daemon=True)
        self._thread.start()

    def _save_quietly(self, frozen: Frozen) -> None:
        try:
            self.save(frozen)
        except StoreError as error:
            _log.warning("no snapshot of event %d: %s", frozen.position, error)

    def save(self, frozen: Frozen) -> None:
        """Keep a snapshot; it counts once it was read back."""
        with self._saving:
            if frozen.position in self._good:
                return
            try:
                self._store.save_snapshot(frozen.position, frozen.chunks())
                self._read_back(frozen)
            except StoreError as error:
                self.snapshot_problem = str(error)
                raise
            self.snapshot_problem = None
            self._good.add(frozen.position)

    def _read_back(self, frozen: Frozen) -> None:
        """Raise unless the store gives a snapshot back, and every model in it can be made anew."""
        read = Frozen.read(self._store.load_snapshot(frozen.position))
        if self._models.put_unreadable_aside(frozen, read):
            raise StoreDamaged(f"snapshot {frozen.position} holds a model that cannot be read")

    def drop_before(self, position: int) -> None:
        """Drop the snapshots before a position: they hold someone who is forgotten."""
        self._store.drop_snapshots([p for p in self._store.snapshots() if p < position])

    def finish(self) -> None:
        """Wait for what is being written."""
        for thread in (self._thread, self._archiving):
            if thread is not None:
                thread.join()
