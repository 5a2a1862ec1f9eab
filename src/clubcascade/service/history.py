"""The log read again: models at any position and without someone, backups, export."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Hashable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument, MissingExtra, StoreDamaged, unknown_name
from clubcascade.service.decision import Decision
from clubcascade.service.events import (
    Answered,
    CandidatesNamed,
    Event,
    ModelMade,
    UserGone,
    of_user,
    read_event,
)
from clubcascade.service.models import Models, read_events
from clubcascade.storage import Row, Store, open_store
from clubcascade.storage.base import batched
from clubcascade.storage.sqlite import DATABASE, repaired

OPENINGS = 1_000
"""Openings that a copy of a store leaves out: the original may have gone on meanwhile."""


def events_of(store: Store, until: int) -> Iterator[tuple[int, Event]]:
    """Yield what the log has up to a position."""
    return read_events(store.events(max(store.first() - 1, 0), until))


def recover(store: Store) -> tuple[Models, list[str]]:
    """Return the models of the newest good snapshot and the log behind it, and what was wrong."""
    notes = list(store.notes)
    best: Models | None = None
    for position in (*store.snapshots(), 0):
        models = Models(store.server - 1, partial(events_of, store))
        try:
            if position:
                models.thaw(store.load_snapshot(position))
        except (StoreDamaged, ValueError, KeyError, TypeError) as error:
            notes.append(f"{error}; going back to an earlier one and the log")
            continue
        try:
            models.replay(store.events(models.position))
        except StoreDamaged:
            if best is None:
                raise
            break  # the log does not reach back so far
        whole = models.freeze()
        models.put_unreadable_aside(whole, whole)
        if best is None or len(models.aside) < len(best.aside):
            best = models
        if not best.aside:
            break
    assert best is not None
    if best.aside:
        notes.append(f"{len(best.aside)} models cannot be read and are put aside: see the log")
    return best, notes


def replayed(
    store: Store,
    until: int | None = None,
    *,
    model: str | None = None,
    policy: Policy | None = None,
) -> Models:
    """Return the models rebuilt from the first event, without any snapshot, up to a position.

    Parameters
    ----------
    store
        Where the log is. One that an earlier version has cut begins with its oldest snapshot.
    until
        The last position; by default all.
    model, policy
        If given, that model is learned by that policy instead of its own.
    """
    head = store.head()
    until = head if until is None else until
    if not 0 <= until <= head:
        raise InvalidArgument(f"position must be from 0 to {head}, got {until}")

    def events(last: int, after: int = 0) -> Iterator[tuple[int, Event]]:
        for position, event in events_of(store, last):
            if policy is not None and isinstance(event, ModelMade) and event.model == model:
                event = ModelMade.of(event.model, policy.fresh(), event.start)
            if position > after:
                yield position, event

    models = Models(0, events)
    if store.first() > 1:
        oldest = min(store.snapshots(), default=0)
        if policy is not None or until < oldest:
            raise InvalidArgument(
                f"position must be from {oldest} on, and the policy that of the model: the log "
                f"begins at event {store.first()}"
            )
        models.thaw(store.load_snapshot(oldest))
    models.apply(events(until, models.position))
    return models


# -- backups -------------------------------------------------------------------------------------


def backup(store: Store, folder: str | os.PathLike[str]) -> int:
    """Copy a store, also one in use, into a new folder; return the position up to which it goes.

    The folder is a store of its own: all acknowledged feedback up to the position, the decisions,
    the newest snapshot that is good.
    """
    position, start = store.head(), max(store.first() - 1, 0)
    with closing(_empty(folder)) as copy:
        rows = (_as_of(row, position) for row in _decisions(store))
        copy.fill(store.server + OPENINGS, store.events(start, position), rows)
        for at in store.snapshots():
            try:
                if at <= position:
                    copy.save_snapshot(at, [store.load_snapshot(at)])
            except StoreDamaged:
                continue
    return position


def restore(folder: str | os.PathLike[str], where: str | os.PathLike[str]) -> int:
    """Fill a new store, in a folder or in PostgreSQL, from a backup; return its position."""
    with closing(existing(folder)) as kept, closing(_empty(where)) as store:
        start = max(kept.first() - 1, 0)
        store.fill(kept.server + OPENINGS, kept.events(start), _decisions(kept))
        for at in kept.snapshots():
            store.save_snapshot(at, [kept.load_snapshot(at)])
        models, _ = recover(store)
        return models.position


def existing(where: str | os.PathLike[str], archive: str | os.PathLike[str] | None = None) -> Store:
    """Open a store that is there."""
    here = not (isinstance(where, str) and "://" in where)
    if here and not (Path(where) / DATABASE).exists():
        raise InvalidArgument(f"store must be one that exists, got {os.fspath(where)!r}")
    return open_store(where, archive=archive)


def _empty(where: str | os.PathLike[str]) -> Store:
    store = open_store(where)
    if store.head() or store.waiting() or store.snapshots():
        store.close()
        raise InvalidArgument(f"store must be new, got one with events: {os.fspath(where)!r}")
    return store


def _decisions(store: Store) -> Iterator[Row]:
    after = 0
    while rows := store.every_decision(after, 1_000):
        yield from rows
        after = rows[-1].number


def _as_of(row: Row, position: int) -> Row:
    """Return a decision as it was at a position: an answer that came later is not in the copy."""
    later = row.position is not None and row.position > position
    return row._replace(outcome=None, position=None) if later else row


def opened(
    where: str | os.PathLike[str],
    *,
    repair: bool,
    archive: str | os.PathLike[str] | None = None,
) -> tuple[Store, Models, list[str]]:
    """Open a store and return it with its models and with what had to be passed over."""
    said: list[str] = []
    while True:
        store: Store | None = None
        try:
            store = open_store(where, archive=archive)
            store.notes.extend(said)
            return (store, *recover(store))
        except BaseException as error:
            if store is not None:
                store.close()
            local = not isinstance(where, str) or "://" not in where
            if not (repair and local and isinstance(error, StoreDamaged)) or said:
                raise
        said = repaired(where, archive)


def forget(
    store: Store,
    model: str,
    user: Hashable,
    *,
    exists: bool,
    related: Container[str],
    call: Callable[[Callable[[], Any]], Any],
    log: Callable[[Event], int],
) -> int:
    """Make a user's events and decisions unreadable; return the position from which on they are.

    Only short pieces of it are the writer's work. The event that says so comes first and has the
    positions of what goes: all servers have the same model from there on, and if this is stopped
    half way, it can be done again.

    Parameters
    ----------
    store
        Where they are.
    model, user
        Whose events and decisions.
    exists
        Whether the model is there; one that was deleted has events, too.
    related
        Models that learned from one another's lists: those of an experiment.
    call, log
        Let the writer do something; let it log an event, which gives its position.
    """
    models = related or {model}
    made, found, gone, seen = False, list[int](), list[int](), store.head()
    for at, payload in store.events(max(store.first() - 1, 0), seen):
        made = made or (payload[:1] == b"M" and read_event(payload).model == model)
        found += [at] if of_user(payload, models, user) else []
    if not made and not exists:
        raise unknown_name("model", model, ())
    if not made:
        raise InvalidArgument(
            f"user must be of a model whose whole log is there, got one of {model!r}: the log "
            f"begins at event {store.first()}"
        )
    mine = (d for d in map(Decision.of, _decisions(store)) if d.user == user and d.model in models)
    for decisions in batched(mine):
        call(partial(store.erase, [], [decision.number for decision in decisions]))
    until = position = store.head()
    for _ in range(2):  # another server may have logged an answer of theirs just before us
        found += [at for at, one in store.events(seen, until) if of_user(one, models, user)]
        if not found:
            break
        position = log(UserGone(model, tuple(found)))
        gone, found, seen, until = gone + found, [], until, position - 1
    for positions in batched(gone):
        call(partial(store.erase, positions, []))
    again = bool(gone)
    while again:
        again = False
        for old, new in store.rewritten(gone):
            call(partial(store.replace, old, new))
            again = True  # someone else may have been faster
    return position


# -- export ----------------------------------------------------------------------------------------


ROWS = 50_000
"""Rows of a file."""
COLUMNS = (
    ("decision", "string"),
    ("position", "int64"),
    ("time", "timestamp"),
    ("answered", "timestamp"),
    ("user", "string"),
    ("items", "strings"),
    ("features", "vectors"),
    ("scores", "doubles"),
    ("model_position", "int64"),
    ("outcome", "string"),
    ("examined", "int32"),
    ("clicks", "ints"),
    ("k", "int32"),
    ("draw", "int64"),
    ("greedy", "bool"),
    ("candidate_set", "string"),
    ("candidates", "strings"),
    ("experiment", "string"),
    ("arm", "string"),
    ("teams", "ints"),
)
"""Names and kinds of the columns, in order."""


def export(
    store: Store,
    model: str,
    out: str | os.PathLike[str],
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Write a model's decisions and feedback; return the manifest, which is also written.

    Parameters
    ----------
    store
        Where they are.
    model
        Name of the model.
    out
        A folder, new or empty: ``part-00000.parquet`` and so on, and ``_manifest.json`` with the
        SHA-256 of each file.
    progress
        Called with the number of rows written so far.
    """
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra('export needs its extra: pip install "clubcascade[export]"') from error

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise InvalidArgument(f"out must be a new or an empty folder, got {str(out)!r}")
    head, total = store.head(), 0
    files: list[dict[str, Any]] = []
    schema = _schema(pyarrow)
    known: set[str] = set()
    for rows in batched(_rows(store, model, head, known), ROWS):
        columns = {name: [row[at] for row in rows] for at, (name, _) in enumerate(COLUMNS)}
        path = folder / f"part-{len(files):05d}.parquet"
        aside = path.with_suffix(".aside")
        parquet.write_table(pyarrow.table(columns, schema=schema), aside, compression="zstd")
        os.replace(aside, path)
        sums = hashlib.sha256(path.read_bytes()).hexdigest()
        files.append({"file": path.name, "rows": len(rows), "sha256": sums})
        total += len(rows)
        progress(total)
    if model not in known:
        raise InvalidArgument(f"model must be one of {', '.join(sorted(known))}, got {model!r}")
    manifest = {"model": model, "position": head, "rows": total, "files": files}
    (folder / "_manifest.json").write_text(json.dumps(manifest, indent=1))
    return manifest


def _rows(store: Store, model: str, head: int, known: set[str]) -> Iterator[tuple[Any, ...]]:
    """Yield answers in the order of the log, then decisions that wait for theirs."""
    sets: dict[str, list[str]] = {}
    for position, payload in store.events(max(store.first() - 1, 0), head):
        event = read_event(payload)
        if isinstance(event, ModelMade):
            known.add(event.model)
        if isinstance(event, CandidatesNamed) and event.model == model:
            sets[event.key] = [_text(name) for name in event.ids]
        if isinstance(event, Answered) and event.model == model:
            known.add(model)
            yield _row(event.decision, sets, position, event)
    after = 0
    while kept := store.every_decision(after, 1_000):
        after = kept[-1].number
        for row in kept:
            if row.position is None or row.position > head:
                decision = Decision.read(row.number, row.payload)
                if decision.model == model:
                    yield _row(decision, sets)


def _row(
    d: Decision,
    sets: Mapping[str, list[str]],
    position: int | None = None,
    answer: Answered | None = None,
) -> tuple[Any, ...]:
    given = None if answer is None or answer.kind == "expired" else answer.given
    whole = bool(d.payload)  # answers of format 1 do not say how the decision was made
    vectors = np.frombuffer(d.features, np.float64).reshape(d.shape).tolist()
    return (
        d.id,
        position,
        d.at if whole else None,
        None if given is None or answer is None else answer.at,
        _text(d.user),
        [_text(name) for name in d.items],
        vectors,
        None if d.scores is None else list(d.scores),
        d.model_version if whole else None,
        None if answer is None else answer.kind,
        None if given is None else given[0],
        None if given is None else list(given[1]),
        len(d.items),
        d.draw,
        d.greedy,
        d.candidates,
        sets.get(d.candidates or ""),
        d.experiment,
        d.arm,
        None if d.teams is None else list(d.teams),
    )


def _text(name: Hashable) -> str:
    """Return an id as text: a str as it is, all else as JSON.

    >>> _text("tea"), _text(7), _text(("de", 7))
    ('tea', '7', '{"tuple": ["de", 7]}')
    """
    return name if isinstance(name, str) else json.dumps(model_file.encode(name))


def _schema(pyarrow: Any) -> Any:
    kinds = {
        "string": pyarrow.string(),
        "int64": pyarrow.int64(),
        "int32": pyarrow.int32(),
        "bool": pyarrow.bool_(),
        "timestamp": pyarrow.timestamp("ms", tz="UTC"),
        "strings": pyarrow.list_(pyarrow.string()),
        "doubles": pyarrow.list_(pyarrow.float64()),
        "ints": pyarrow.list_(pyarrow.int32()),
        "vectors": pyarrow.list_(pyarrow.list_(pyarrow.float64())),
    }
    return pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS])
