"""Decisions and feedback of a model as Parquet files, for analysis; the service may go on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.errors import InvalidArgument, MissingExtra
from clubcascade.service.decision import Decision
from clubcascade.service.events import Answered, CandidatesNamed, ModelMade, read_event
from clubcascade.storage import Store
from clubcascade.storage.base import batched

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
