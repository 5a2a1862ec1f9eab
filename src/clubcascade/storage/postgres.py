"""A store in PostgreSQL: the tables, written within the session that owns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg

from clubcascade.errors import StoreDamaged, StoreFenced
from clubcascade.storage import snapshot_codec
from clubcascade.storage.base import (
    Batch,
    DecisionRow,
    Store,
    answered,
    checksum,
    row_checksum,
)
from clubcascade.storage.postgres_session import Session, problems

_PART = 8 * 2**20
_DECISION = "SELECT number, at, request, payload, outcome, event, sum FROM clubcascade_decisions"


class PostgresStore(Store):
    """Tables ``clubcascade_*`` in one database.

    Parameters
    ----------
    url
        ``postgresql://user@host/database``.
    takeover
        Take the store from a writer that seems to live but does not answer.
    """

    remote = True

    def __init__(self, url: str, *, takeover: bool = False) -> None:
        self._session = Session(url, takeover=takeover)
        self.notes, self.starts = self._session.notes, self._session.epoch

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, whole."""
        with self._session.fenced("write to the store") as cursor:
            if batch.decisions:
                cursor.executemany(
                    "INSERT INTO clubcascade_decisions (number, at, request, payload, sum) "
                    "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                    [(*row[:4], checksum(row.number, row.payload)) for row in batch.decisions],
                )
            if batch.events:
                cursor.executemany(
                    "INSERT INTO clubcascade_log VALUES (%s, %s, %s)",
                    [(n, payload, checksum(n, payload)) for n, payload in batch.events],
                )
            if batch.answers:
                cursor.executemany(
                    "UPDATE clubcascade_decisions SET outcome=%s, event=%s, sum=%s WHERE number=%s",
                    [
                        (a.outcome, a.event, answered(a.base, a.outcome, a.event), a.number)
                        for a in batch.answers
                    ],
                )

    def forget_events(self, upto: int, limit: int) -> int:
        """Drop up to ``limit`` events numbered ``upto`` or below; the last one always stays."""
        with self._session.fenced("compact the log") as cursor:
            cursor.execute(
                "DELETE FROM clubcascade_log WHERE number IN (SELECT number FROM clubcascade_log "
                "WHERE number <= %s AND number < (SELECT max(number) FROM clubcascade_log) "
                "ORDER BY number LIMIT %s)",
                (upto, limit),
            )
            return cursor.rowcount

    def forget_decisions(self, before: int, limit: int) -> int:
        """Drop up to ``limit`` of the oldest decisions made before a time."""
        with self._session.fenced("drop old decisions") as cursor:
            cursor.execute(
                "DELETE FROM clubcascade_decisions WHERE at < %s AND number IN "
                "(SELECT number FROM clubcascade_decisions ORDER BY number LIMIT %s)",
                (before, limit),
            )
            return cursor.rowcount

    # -- reading -------------------------------------------------------------------------------

    def _number(self, query: str) -> int:
        return int(self._session.ask(query)[0][0])

    def decisions(self, numbers: Sequence[int]) -> list[DecisionRow]:
        """Return those of the decisions of these numbers that are known, in any order."""
        possible = [number for number in numbers if number < 2**63]
        found = self._session.ask(f"{_DECISION} WHERE number = ANY(%s)", possible)
        return [checked(row) for row in found]

    def by_request(self, request: str) -> DecisionRow | None:
        """Return the decision that was made for a client's request id."""
        found = self._session.ask(f"{_DECISION} WHERE request=%s", request)
        return checked(found[0]) if found else None

    def unanswered(self, after: int, before: int, limit: int) -> list[DecisionRow]:
        """Return decisions numbered above ``after``, made before that time, without an answer."""
        found = self._session.ask(
            f"{_DECISION} WHERE number > %s AND at < %s AND outcome IS NULL "
            "ORDER BY number LIMIT %s",
            after,
            before,
            limit,
        )
        return [checked(row) for row in found]

    def waiting(self) -> int:
        """Count the decisions without an answer."""
        return self._number("SELECT count(*) FROM clubcascade_decisions WHERE outcome IS NULL")

    def last_event(self) -> int:
        """Return the number of the last event, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM clubcascade_log")

    def last_decision(self) -> int:
        """Return the number of the last decision, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM clubcascade_decisions")

    def events(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the events numbered above ``after``, in order, without a gap."""
        last = self.last_event()
        while after < last:
            found = self._session.ask(
                "SELECT number, payload, sum FROM clubcascade_log WHERE number > %s "
                "ORDER BY number LIMIT 1000",
                after,
            )
            for number, payload, expected in found:
                if number != after + 1:
                    raise StoreDamaged(
                        f"event {after + 1} of the log is missing; the last is {last}"
                    )
                if checksum(number, payload) != expected:
                    raise StoreDamaged(f"event {number} of the log is damaged; the last is {last}")
                after = number
                yield number, payload

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, number: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a snapshot of the state after event ``number``: whole or not at all."""
        data = b"".join(chunks)
        with problems("write the snapshot"), psycopg.connect(self._session.url) as connection:
            row = connection.execute("SELECT epoch FROM clubcascade_about FOR SHARE").fetchone()
            if row is None or row[0] != self._session.epoch:
                raise StoreFenced("another process has taken the store over")
            connection.execute("DELETE FROM clubcascade_snapshots WHERE number = %s", (number,))
            for part, start in enumerate(range(0, len(data), _PART)):
                connection.execute(
                    "INSERT INTO clubcascade_snapshots VALUES (%s, %s, %s)",
                    (number, part, data[start : start + _PART]),
                )

    def snapshots(self) -> list[int]:
        """Return the numbers of the snapshots, newest first."""
        found = self._session.ask(
            "SELECT DISTINCT number FROM clubcascade_snapshots ORDER BY number DESC"
        )
        return [int(row[0]) for row in found]

    def load_snapshot(self, number: int) -> bytes:
        """Return the snapshot of that number."""
        parts = self._session.ask(
            "SELECT payload FROM clubcascade_snapshots WHERE number = %s ORDER BY part", number
        )
        data = b"".join(row[0] for row in parts)
        try:
            snapshot_codec.check(data)
        except StoreDamaged as error:
            raise StoreDamaged(f"snapshot {number} cannot be used: {error}") from None
        return data

    def drop_snapshots(self, keep: int) -> None:
        """Drop all but the newest ``keep`` snapshots."""
        with self._session.fenced("drop old snapshots") as cursor:
            for number in self.snapshots()[keep:]:
                cursor.execute("DELETE FROM clubcascade_snapshots WHERE number = %s", (number,))

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Connect anew after an error; raise if another writer came in between."""
        self._session.recover()

    def close(self) -> None:
        """Let the store go."""
        self._session.close()


def checked(found: tuple[Any, ...]) -> DecisionRow:
    """Return a decision as it was written; raise if its checksum does not fit."""
    row = DecisionRow(*found[:6])
    if row_checksum(row) != found[6]:
        raise StoreDamaged(f"decision {row.number} is damaged in the store")
    return row
