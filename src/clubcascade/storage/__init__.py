"""Stores: decisions, a log of events, snapshots. Each is a file of this folder."""

from __future__ import annotations

import os

from clubcascade.errors import MissingExtra, StoreDamaged
from clubcascade.storage.base import Answer, Batch, DecisionRow, Store, checksum
from clubcascade.storage.salvage import salvage
from clubcascade.storage.sqlite import SqliteStore

__all__ = ["Answer", "Batch", "DecisionRow", "SqliteStore", "Store", "checksum", "open_store"]


def open_store(
    where: str | os.PathLike[str], *, takeover: bool = False, repair: bool = False
) -> Store:
    """Open the store of a folder or of a URL ``postgresql://...``.

    Parameters
    ----------
    where
        A folder, made if it does not exist, or a PostgreSQL URL.
    takeover
        PostgreSQL: take the store from a writer that no longer answers.
    repair
        A folder: go on from the last good event if the log is damaged; what is lost is named in
        ``notes``.
    """
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        try:
            from clubcascade.storage.postgres import PostgresStore  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                'a PostgreSQL store needs psycopg: pip install "clubcascade[postgres]"'
            ) from error
        return PostgresStore(where, takeover=takeover)
    try:
        return SqliteStore(where)
    except StoreDamaged:
        if not repair:
            raise
        notes = salvage(where)
        store = SqliteStore(where)
        store.notes.extend(notes)
        return store
