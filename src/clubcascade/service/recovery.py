"""From a store to the models in it: the newest good snapshot, then the log behind it."""

from __future__ import annotations

import os

from clubcascade.errors import StoreDamaged
from clubcascade.service.book import Book
from clubcascade.storage import SqliteStore, Store, open_store
from clubcascade.storage.salvage import salvage


def recover(store: Store) -> tuple[Book, list[str]]:
    """Return the models as they were, and what had to be passed over, in sentences."""
    notes = list(store.notes)
    run = store.starts - 1
    best: Book | None = None
    for number in (*store.snapshots(), 0):
        try:
            book = Book.thaw(store.load_snapshot(number), run) if number else Book(run)
        except (StoreDamaged, ValueError, KeyError, TypeError) as error:
            notes.append(f"{error}; going back to an earlier one and the log")
            continue
        try:
            catch_up(book, store)
        except StoreDamaged:
            if best is None:
                raise
            break  # the log does not reach back so far
        book.loaded = number
        whole = book.freeze()
        book.put_unreadable_aside(whole, whole)
        if best is None or len(book.aside) < len(best.aside):
            best = book
        if not best.aside:
            break
    assert best is not None
    if best.aside:
        notes.append(f"{len(best.aside)} models cannot be read and are put aside: see the log")
    return best, notes


def replay(store: Store) -> Book:
    """Return the models rebuilt from the first event, without any snapshot."""
    book = Book()
    catch_up(book, store)
    return book


def catch_up(book: Book, store: Store) -> int:
    """Take in what the log has beyond the book; return how many events that were."""
    before = book.number
    book.replay(store.events(before))
    return book.number - before


def open_book(
    where: str | os.PathLike[str], *, takeover: bool, repair: bool
) -> tuple[Store, Book, list[str]]:
    """Open a store and return it with its models and with what had to be passed over."""
    store = open_store(where, takeover=takeover, repair=repair)
    try:
        return (store, *recover(store))
    except BaseException as error:
        store.close()
        if not (repair and isinstance(error, StoreDamaged) and isinstance(store, SqliteStore)):
            raise
    said = salvage(store.folder)
    store = open_store(store.folder)
    store.notes.extend(said)
    try:
        return (store, *recover(store))
    except BaseException:
        store.close()
        raise
