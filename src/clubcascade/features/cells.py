"""Cells of a table: ids as text without blanks around them, times as seconds."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from clubcascade.core import Floats
from clubcascade.errors import InvalidData
from clubcascade.validation import brief

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FORMATS = (
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
)
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%Y%m%d")
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Times that are larger than the first are in such parts of a second."""


def id_texts(column: pl.Series, where: str) -> tuple[pl.Series, int]:
    """Return ids as text, empty ones as null, and how many had blanks around them.

    >>> id_texts(pl.Series([" tea", "jam", ""]), "items.csv")[0].to_list()
    ['tea', 'jam', None]
    """
    if column.dtype.is_nested() or column.dtype == pl.Binary or column.dtype == pl.Object:
        raise InvalidData(
            f"{where}, column {column.name!r}, must hold ids (text or numbers), got {column.dtype}"
        )
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if not bool((column == column.floor()).all()):
            row = int((column != column.floor()).fill_null(False).arg_max() or 0)
            raise InvalidData(
                f"{where}, column {column.name!r}, must hold ids (text or whole numbers), got "
                f"{column[row]} in row {row + 1}"
            )
        column = column.cast(pl.Int64, strict=False)
    text = column.cast(pl.String)
    bare = text.str.strip_chars()
    blanks = int((bare != text).sum() or 0)
    return bare.set(bare == "", None), blanks


def natural_ids(texts: Iterable[str]) -> list[Hashable]:
    """Return ids as whole numbers, if all of them are, else as text.

    >>> natural_ids(["1", "20"]), natural_ids(["1", "02"])
    ([1, 20], ['1', '02'])
    """
    known = list(texts)
    if all(_WHOLE.fullmatch(text) for text in known):
        return [int(text) for text in known]
    return list(known)


def id_order(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the order of ids: that of numbers if all are whole numbers, else that of text."""
    known = natural_ids(texts)
    return np.array(sorted(range(len(known)), key=known.__getitem__), dtype=np.int64)  # type: ignore[arg-type]


def seconds(column: pl.Series, where: str, first_row: int = 0) -> Floats:
    """Return times as seconds since 1970, NaN where there is none.

    >>> seconds(pl.Series("t", ["1970-01-02", "86400", None]), "x.csv").tolist()
    [86400.0, 86400.0, nan]
    """
    if column.dtype.is_temporal() and column.dtype not in (pl.Date, pl.Datetime):
        raise InvalidData(f"{where}, column {column.name!r}, must hold times, got {column.dtype}")
    if column.dtype in (pl.Date, pl.Datetime):
        return _of_datetimes(column)
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64).fill_nan(None)
        return _scaled(numbers)
    if column.dtype != pl.String:
        raise InvalidData(f"{where}, column {column.name!r}, must hold times, got {column.dtype}")
    text = column.str.strip_chars()
    text = text.set(text == "", None)
    found = _scaled(text.cast(pl.Float64, strict=False).fill_nan(None))
    missing = np.isnan(found) & text.is_not_null().to_numpy()
    if missing.any():
        found = np.where(missing, _parsed(text), found)
        bad = np.isnan(found) & text.is_not_null().to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            raise InvalidData(
                f"{where} must have times in column {column.name!r}, got {brief(text[row])} in row "
                f"{first_row + row + 1}; write them as 2026-11-16, 2026-11-16T18:30:00 or seconds "
                f"since 1970"
            )
    return found


def _parsed(text: pl.Series) -> Floats:
    found = np.full(len(text), np.nan)
    for form in (*_FORMATS, *_DAYS):
        left = np.flatnonzero(np.isnan(found) & text.is_not_null().to_numpy())
        if not left.size:
            break
        some = text.gather(left)
        if form in _DAYS:
            times: pl.Series = some.str.to_date(form, strict=False)
        else:
            zone = None if "%#z" in form else "UTC"
            times = some.str.to_datetime(form, strict=False, time_zone=zone, time_unit="us")
        found[left] = _of_datetimes(times)
    return found


def _of_datetimes(column: pl.Series) -> Floats:
    micros = column.cast(pl.Datetime("us")).dt.epoch("us")
    return micros.cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6


def _scaled(numbers: pl.Series) -> Floats:
    values: Floats = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    with np.errstate(invalid="ignore"):
        values[~np.isfinite(values)] = np.nan
        largest = np.nanmax(np.abs(values), initial=0.0)
    for limit, unit in _UNITS:
        if largest > limit:
            return values / unit
    return values
