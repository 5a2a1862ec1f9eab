"""Stores: one log that servers share, decisions, snapshots."""

from __future__ import annotations

import os
import re

from clubcascade.errors import InvalidArgument, MissingExtra
from clubcascade.storage.base import Entry, Group, Row, Store, checksum, server_of
from clubcascade.storage.folder import modules
from clubcascade.storage.sqlite import SqliteStore

__all__ = [
    "Entry",
    "Group",
    "Row",
    "SqliteStore",
    "Store",
    "checksum",
    "open_store",
    "server_of",
]


def open_store(
    where: str | os.PathLike[str], *, archive: str | os.PathLike[str] | None = None
) -> Store:
    """Open the store of a folder or of a URL ``postgresql://...``.

    Parameters
    ----------
    where
        A folder, made if it does not exist, or a PostgreSQL URL.
    archive
        Folder of old events. By default one in the folder of the store; none for PostgreSQL,
        whose servers must share it.
    """
    if archive is not None:
        modules()
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", where) if isinstance(where, str) else None
    if scheme and scheme[1] not in ("postgresql", "postgres"):
        raise InvalidArgument(
            f"store must be a folder or a URL postgresql://..., got {scheme[1]}://..."
        )
    if scheme:
        try:
            from clubcascade.storage.postgres import PostgresStore  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                'a PostgreSQL store needs psycopg: pip install "clubcascade[postgres]"'
            ) from error
        return PostgresStore(str(where), archive=archive)
    return SqliteStore(where, archive=archive)
