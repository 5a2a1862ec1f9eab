"""Columns to numbers: each encoder keeps what it learned of a column as plain values and arrays."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import polars as pl

from clubcascade.core import Floats, Ints
from clubcascade.datasets.columns import COMMAS, EMPTY
from clubcascade.errors import InvalidData
from clubcascade.features.base import Saved
from clubcascade.features.cells import seconds
from clubcascade.features.kinds import comma_of, numbers_in, separator_of
from clubcascade.validation import brief

MOST_VALUES = 50
"""Values of a category, or tags, that get a feature each: the most frequent ones."""
FAR = 1e100
"""Numbers from which on a cell counts as empty: their squares would overflow."""
_LARGEST = 3.0
_SKEWED = 2.0


@dataclass(eq=False)
class Encoder(Saved, ABC):
    """Numbers from one column; ``said`` is what was kept of it."""

    said: str = field(default="", kw_only=True)

    @classmethod
    @abstractmethod
    def fit(cls, column: pl.Series, where: str) -> Self:
        """Learn from a column."""

    @abstractmethod
    def encode(self, column: pl.Series, where: str) -> Floats:
        """Return one row of numbers per cell; what is missing or unknown becomes 0."""


@dataclass(eq=False)
class NumberEncoder(Encoder):
    """One number: in deviations from the mean, logarithms where large ones are far out.

    A time is the number of days since 1970.
    """

    mean: float
    deviation: float
    log: bool
    comma: str = ""

    @classmethod
    def fit(cls, column: pl.Series, where: str) -> Self:
        """Learn mean and deviation; cells without a number are counted and left out."""
        comma = comma_of(column.str.strip_chars()) if column.dtype == pl.String else ""
        values = numbers_of(column, where, comma)
        some = values[np.isfinite(values)]
        missing = len(values) - len(some)
        said = f"{missing:,} without a value count as the mean" if missing else ""
        if not some.size:
            return cls(0.0, 1.0, False, said="no values")
        spread = float(some.std())
        skewed = spread > 0 and float(((some - some.mean()) ** 3).mean()) > _SKEWED * spread**3
        log = skewed and bool((some >= 0).all())
        some = np.log1p(some) if log else some
        deviation = float(some.std())
        if not deviation > 0 or not np.isfinite(deviation):
            return cls(0.0, 1.0, False, comma, said="the same for all: no feature")
        commas = {"decimal": "with decimal commas", "thousands": "commas are between thousands"}
        notes = [commas.get(comma), "as logarithm" if log else "", said]
        said = "; ".join(filter(None, notes))
        return cls(float(some.mean()), deviation, log, comma, said=said)

    def encode(self, column: pl.Series, where: str) -> Floats:
        """Return deviations from the mean, at most 3; 0 where there is no number."""
        values = numbers_of(column, where, self.comma)
        values[~np.isfinite(values)] = np.nan
        if self.log:
            values = np.log1p(np.maximum(values, 0.0))
        scaled = np.clip((values - self.mean) / self.deviation, -_LARGEST, _LARGEST)
        if self.said.endswith("no feature") or self.said == "no values":
            return np.zeros((len(values), 0))
        return np.nan_to_num(scaled)[:, None]

    def check(self) -> None:
        """Raise a ValueError unless mean and deviation are finite."""
        if self.comma not in ("", *COMMAS):
            raise ValueError(f"comma must be one of {', '.join(COMMAS)}, got {brief(self.comma)}")
        if not (np.isfinite([self.mean, self.deviation]).all() and self.deviation > 0):
            raise ValueError(
                f"mean and deviation must be finite, got {self.mean} and {self.deviation}"
            )


@dataclass(eq=False)
class ValuesEncoder(Encoder):
    """A feature for each of the most frequent values, scaled as rare ones say more."""

    tags: ClassVar[bool] = False
    values: list[str]
    weights: Floats
    separator: str | None

    @classmethod
    def fit(cls, column: pl.Series, where: str) -> Self:
        """Learn the most frequent values."""
        separator = separator_for(column) if cls.tags else None
        parts = parts_of(column, separator)
        flat = parts.drop_nulls("value")
        counts = flat.group_by("value").len().sort(["len", "value"], descending=[True, False])
        kept = counts.filter(pl.col("len") < len(column))  # what all have tells none apart
        if len(kept) > MOST_VALUES:
            kept = kept.filter(pl.col("len") > 1).head(MOST_VALUES)
        values = kept["value"].to_list()
        said = f"{len(values)} values"
        if len(counts) == 1 and not values:
            said = f"{counts['value'][0]!r} for all: no feature"
        elif not values:
            said = f"none of {len(counts):,} values comes back: no feature"
        elif len(counts) > len(values):
            share = int(kept["len"].sum()) / max(int(counts["len"].sum()), 1)
            said = f"the {len(values)} most frequent of {len(counts):,} values, {share:.0%} of all"
        weights = 1.0 / np.sqrt(np.maximum(kept["len"].to_numpy(), 1) / max(len(column), 1))
        return cls(values, np.minimum(weights.astype(np.float64), 10.0), separator, said=said)

    def encode(self, column: pl.Series, where: str) -> Floats:
        """Return a row of weights: 0 for all values that a cell does not have."""
        out = np.zeros((len(column), len(self.values)))
        parts = parts_of(column, self.separator).drop_nulls("value")
        places = (
            parts["value"].replace_strict(
                self.values, list(range(len(self.values))), default=None, return_dtype=pl.Int64
            )
            if self.values
            else pl.Series([], dtype=pl.Int64)
        )
        known = places.is_not_null().to_numpy() if len(places) else np.zeros(0, bool)
        rows = parts["row"].to_numpy()[: len(known)][known]
        columns = places.drop_nulls().to_numpy()
        out[rows, columns] = self.weights[columns]
        return out

    def check(self) -> None:
        """Raise a ValueError unless values are distinct, each with a weight."""
        if len(set(self.values)) != len(self.values):
            raise ValueError("values must be distinct")
        n, shape = len(self.values), self.weights.shape
        if shape != (n,) or not np.isfinite(self.weights).all():
            raise ValueError(f"weights must be {n} numbers, got shape {shape}")


class TagsEncoder(ValuesEncoder):
    """The same for cells of several values."""

    tags = True


def numbers_of(column: pl.Series, where: str, comma: str = "") -> Floats:
    """Return a column as numbers, NaN where a cell is empty; text that is no number is named."""
    if column.dtype in (pl.Date, pl.Datetime):
        return seconds(column, where) / 86_400.0
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        text = text.set(text.is_in(EMPTY), None)
        numbers = numbers_in(text, comma)
        bad = (numbers.is_null() & text.is_not_null()).to_numpy()
        if bad.any() and text.str.contains(r"^\d{4}-\d\d-\d\d").any():
            return seconds(column, where) / 86_400.0
        if bad.any():
            row = int(np.argmax(bad))
            raise InvalidData(
                f"{where} must have numbers in column {column.name!r}, got {brief(column[row])} in "
                f"row {row + 1}; if it is no number, name its kind: kinds={{{column.name!r}: "
                f"'category'}}, or --kind {column.name}=category"
            )
    elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.Float64)
    else:
        raise InvalidData(
            f"{where} must have numbers in column {column.name!r}, got {column.dtype}"
        )
    values = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    return np.where(np.abs(values) < FAR, values, np.nan)


def parts_of(column: pl.Series, separator: str | None) -> pl.DataFrame:
    """Return the values of a column with the rows that they are in, without blanks around them."""
    rows = pl.Series("row", np.arange(len(column)))
    if separator is not None and column.dtype == pl.String:
        if column.str.contains(r"^\s*\[").any():
            column = pl.Series([_json_tags(text) for text in column], dtype=pl.List(pl.String))
        else:
            column = column.str.split(separator or "|")
    elif column.dtype not in (pl.List, pl.Array):
        column = column.cast(pl.String)
    frame = pl.DataFrame({"row": rows, "value": column})
    if column.dtype in (pl.List, pl.Array):
        frame = frame.with_columns(pl.col("value").cast(pl.List(pl.String))).explode("value")
    bare = frame.with_columns(pl.col("value").str.strip_chars())
    return bare.with_columns(
        pl.when(pl.col("value") == "").then(None).otherwise(pl.col("value")).alias("value")
    )


def values_of(column: pl.Series, tags: bool) -> tuple[Ints, Ints, int]:
    """Return rows and values of a category or of tags, as numbers, and how many values there are.

    >>> [part.tolist() for part in values_of(pl.Series(["tea", None, "jam"]), False)[:2]]
    [[0, 2], [1, 0]]
    """
    parts = parts_of(column, separator_for(column) if tags else None).drop_nulls("value")
    names = parts["value"].unique().sort().to_list()
    numbers = parts["value"].replace_strict(names, list(range(len(names))), return_dtype=pl.Int64)
    return parts["row"].to_numpy(), numbers.to_numpy(), len(names)


def separator_for(column: pl.Series) -> str:
    """Return what separates the parts of a column that is known to have several."""
    if column.dtype != pl.String:
        return ""
    text = column.drop_nulls()
    having = (mark for mark in "|;," if text.str.contains(mark, literal=True).any())
    return separator_of(text) or next(having, "|")


def _json_tags(text: str | None) -> list[str]:
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return [text or ""]
    return [str(part) for part in found] if isinstance(found, list) else [str(found)]
