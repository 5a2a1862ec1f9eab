"""Models made of the files that ``clubcascade train`` writes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Hashable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.service.arguments import item_names, user_id
from clubcascade.service.events import SEEN, ModelMade
from clubcascade.service.metadata import COLUMNS, Kinds, Row, checked_row, pack_rows
from clubcascade.service.model import Model
from clubcascade.validation import brief

if TYPE_CHECKING:
    from clubcascade.training import Trained

File = str | os.PathLike[str] | bytes
"""A model file: its path, or its bytes."""


def fingerprint(file: File) -> str:
    """Return the SHA-256 of a file."""
    if isinstance(file, bytes):
        return hashlib.sha256(file).hexdigest()
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def made_of(name: str, trained: Trained | File) -> ModelMade:
    """Return the event that makes a model of what was trained: policy, items, clicks, features."""
    from clubcascade.training import Trained  # noqa: PLC0415 - an extra

    file = ""
    if isinstance(trained, bytes):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cc"
            path.write_bytes(trained)
            try:
                file, trained = fingerprint(trained), Trained.load(path)
            except ModelFileError as error:
                raise ModelFileError(str(error).replace(str(path), path.name)) from None
    elif not isinstance(trained, Trained):
        file, trained = fingerprint(trained), Trained.load(trained)
    state = trained.state()
    policy, items, features = state["policy"], state["items"], state["features"]
    ids = list(item_names("items", items["ids"]))
    kinds = Kinds(features)
    columns = items["columns"]
    cells = zip(*columns.values(), strict=True) if columns else [()] * len(ids)
    rows = [kinds.typed(dict(zip(columns, each, strict=True))) for each in cells]
    start = {
        "seen": SEEN,
        "file": file,
        "title": items["title"],
        "features": features,
        "ids": ids,
        "vectors": state["vectors"],
        "metadata": pack_rows(ids, _known(ids, rows)),
        "users": [user_id(user) for user in state["users"]],
        "starts": state["starts"],
        "clicked": state["clicked"],
    }
    return ModelMade(name, policy["name"], policy["params"], policy["state"], start)


def _known(ids: list[Any], rows: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Return the columns of items that are not empty."""
    found = {}
    for each, row in zip(ids, rows, strict=True):
        some = {column: value for column, value in row.items() if value is not None}
        some = dict(islice(some.items(), COLUMNS))
        if some:
            found[each] = checked_row("items", some)
    return found


def by_row(
    model: Model, names: Sequence[Hashable], columns: Sequence[Row | None]
) -> tuple[Floats, list[Row]]:
    """Return the features of items and their metadata, from their rows of the table of items."""
    kinds = Kinds(model.start["features"]) if "features" in model.start else None
    if kinds is None or not kinds.columns:
        raise InvalidArgument(
            f"columns must be for a model that was trained with a table of items, got them for "
            f"{model.name!r}; send features"
        )
    rows: list[Row] = [row or {} for row in columns]
    for name, row in zip(names, rows, strict=True):
        wrong = [each for each in row if each not in kinds.columns and each != kinds.id_name]
        if wrong or not row:
            known = ", ".join(kinds.columns)
            raise InvalidArgument(
                f"columns must be some of {known}, got {brief(wrong or row)} for item {brief(name)}"
            )
        for column, value in row.items():
            if not kinds.fits(column, value):
                raise InvalidArgument(
                    f"columns must have a number or null as {column!r}, got {brief(value)} for "
                    f"item {brief(name)}"
                )
    if model.maker is None:
        from clubcascade.features.base import restore  # noqa: PLC0415 - an extra

        model.maker = restore(**model.start["features"])
    table = [row | {kinds.id_name: name} for name, row in zip(names, rows, strict=True)]
    features = model.maker.transform(table)
    told = [{n: v for n, v in row.items() if kinds.columns.get(n) != "vector"} for row in rows]
    return features, [kinds.typed(row) for row in told]
