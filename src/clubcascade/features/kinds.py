"""What the columns of a table of items are: guessed, or named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from clubcascade.datasets.columns import COMMAS, EMPTY, column_of, has_column, plain_number
from clubcascade.errors import InvalidArgument
from clubcascade.validation import brief, choice

KINDS = ("number", "category", "tags", "text", "vector", "time", "ignore")
_SAMPLE = 20_000
_MOSTLY = 0.9
"""Share of numbers from which on a column is one of numbers: what is none is then named."""
_SEPARATORS = ("|", ";", ",")
_MOST_CATEGORIES = 0.5
"""Share of distinct values up to which text of a word or two is a category."""


def guess_kind(column: pl.Series) -> str:
    """Return what a column seems to be.

    >>> guess_kind(pl.Series(["3.5", "4", None])), guess_kind(pl.Series(["tea", "jam", "tea"]))
    ('number', 'category')
    >>> guess_kind(pl.Series(["a|b", "b|c", "a"])), guess_kind(pl.Series([[0.1, 0.2]]))
    ('tags', 'vector')
    """
    dtype = column.dtype
    if dtype in (pl.List, pl.Array):
        inner = dtype.inner  # type: ignore[attr-defined]
        return "vector" if inner.is_numeric() else "tags" if inner == pl.String else "ignore"
    if dtype.is_numeric():
        return "number"
    if dtype in (pl.Date, pl.Datetime):
        return "time"
    if dtype == pl.Boolean or dtype in (pl.Categorical, pl.Enum):
        return "category"
    if dtype != pl.String:
        return "ignore"
    return _guess_text(column)


def _guess_text(column: pl.Series) -> str:
    some = column.drop_nulls().head(_SAMPLE).str.strip_chars()
    some = some.filter(~some.is_in(EMPTY))
    if not len(some):
        return "ignore"
    if numbers_in(some, comma_of(some)).null_count() <= (1.0 - _MOSTLY) * len(some):
        return "number"
    if some.str.contains(r"^\s*\[").all():
        return _guess_list(some)
    if some.str.contains(r"^\d{4}-\d\d-\d\d").all():
        return "time"
    if separator_of(some):
        return "tags"
    words = float(some.str.count_matches(r"\S+").mean() or 0.0)  # type: ignore[arg-type]
    distinct = some.n_unique() / len(some)
    if words <= 2.5 and (distinct <= _MOST_CATEGORIES or some.n_unique() <= 20):
        return "category"
    if words < 1.5:
        return "category"
    return "text"


def comma_of(text: pl.Series) -> str:
    """Return what commas in a column of numbers mean: "decimal", "thousands" or nothing.

    Where every comma could be either, as in 1,250, it stands between thousands.

    >>> comma_of(pl.Series(["3,50", "4"])), comma_of(pl.Series(["1,250", "4"]))
    ('decimal', 'thousands')
    """
    having = text.filter(text.str.contains(",", literal=True))
    shares = {comma: having.str.contains(form).mean() or 0.0 for comma, form in COMMAS.items()}
    return next((comma for comma, share in shares.items() if share >= _MOSTLY), "")  # type: ignore[operator]


def numbers_in(text: pl.Series, comma: str) -> pl.Series:
    """Return cells of text as numbers, null where one is none."""
    if comma:
        text = text.map_elements(lambda cell: plain_number(cell, comma), return_dtype=pl.String)
    return text.cast(pl.Float64, strict=False)


def _guess_list(some: pl.Series) -> str:
    try:
        first = json.loads(some[0])
    except ValueError:
        return "text"
    if not isinstance(first, list):
        return "text"
    return "vector" if first and all(isinstance(x, int | float) for x in first) else "tags"


def separator_of(some: pl.Series) -> str:
    """Return what separates the tags of a column, an empty text if nothing seems to.

    Tags come back: with the separator there are fewer different parts than without it. A comma
    separates only parts of few words, or it is that of a sentence.
    """
    for separator in _SEPARATORS:
        having = some.str.contains(separator, literal=True)
        if (having.mean() or 0.0) < 0.1:  # type: ignore[operator]
            continue
        parts = some.str.split(separator).explode().str.strip_chars()
        words = float(parts.str.count_matches(r"\S+").mean() or 0.0)  # type: ignore[arg-type]
        if parts.n_unique() < 0.7 * len(parts) and words <= (3.0 if separator != "," else 2.0):
            return separator
        if separator == "|" and parts.n_unique() < len(parts):
            return separator
    return ""


def kinds_of(
    frame: pl.DataFrame, named: Mapping[str, str] | None, without: list[str]
) -> dict[str, str]:
    """Return the kind of every column: the named one, else a guess; ids are ``without``."""
    if named is not None and not isinstance(named, Mapping):
        raise InvalidArgument(f"kinds must map columns to kinds, got {brief(named)}")
    named = dict(named or {})
    for column, kind in named.items():
        if column not in frame.columns:
            raise InvalidArgument(
                f"kinds must name columns of the table, {brief(frame.columns)}, got {column!r}"
            )
        choice(f"kinds[{column!r}]", kind, KINDS)
    found: dict[str, Any] = {}
    columns = list(frame.columns)
    title = column_of("title", columns, None, "") if has_column("title", columns) else None
    for column in frame.columns:
        if column not in without:
            guess = named.get(column) or guess_kind(frame[column])
            titles = guess == "tags" and column not in named and column == title
            found[column] = "text" if titles else guess
    return found
