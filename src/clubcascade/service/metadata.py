"""What is known of items besides their vectors: checked, kept, and filtered by.

A filter is such as ``category = "tea" and price < 20``.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.datasets.columns import EMPTY, plain_number
from clubcascade.errors import InvalidArgument
from clubcascade.validation import brief

COLUMNS = 100
"""Columns that an item may have."""
LARGEST = 2**16
"""Bytes that they may take, as JSON."""
LONGEST_TEXT = 1_000
"""Characters that are kept of a text of a training table."""

Row = dict[str, Any]
"""The columns of one item."""

_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def checked_row(name: str, row: Any) -> Row:
    """Return the columns of an item: texts, numbers, truth values, None, lists of these.

    >>> checked_row("metadata", {"title": "tea", "price": 3.5, "tags": ["hot", "green"]})
    {'title': 'tea', 'price': 3.5, 'tags': ['hot', 'green']}
    """
    if not isinstance(row, Mapping) or not all(isinstance(column, str) for column in row):
        raise InvalidArgument(f"{name} must map columns to values, got {brief(row)}")
    if len(row) > COLUMNS:
        raise InvalidArgument(f"{name} must have at most {COLUMNS} columns, got {len(row)}")
    for column, value in row.items():
        for part in value if isinstance(value, list | tuple) else [value]:
            if not _is_plain(part):
                raise InvalidArgument(
                    f"{name} must hold text, finite numbers, true, false, null or lists of these, "
                    f"got {brief(part)} in column {brief(column)}"
                )
    try:
        size = len(_json(row))
        "".join(row).encode()
    except (UnicodeEncodeError, ValueError) as error:
        raise InvalidArgument(f"{name} must be text that can be kept, got {error}") from None
    if size > LARGEST:
        raise InvalidArgument(f"{name} must take at most {LARGEST} bytes as JSON, got {size}")
    return {
        column: list(value) if isinstance(value, tuple) else value for column, value in row.items()
    }


def described(name: str, rows: Any, count: int) -> list[Any]:
    """Return the columns of so many items, None where nothing is said of one."""
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise InvalidArgument(f"{name} must be a row per item, got {brief(rows)}")
    found = [None if row is None else checked_row(name, row) for row in rows]
    if len(found) != count:
        raise InvalidArgument(f"{name} must have {count} rows, one per item, got {len(found)}")
    return found


def _is_plain(value: Any) -> bool:
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is str:
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return value is None or type(value) is bool


def pack_rows(ids: Iterable[Hashable], rows: Mapping[Hashable, Row]) -> npt.NDArray[np.uint8]:
    """Return the columns of items as bytes, in the order of their ids.

    >>> unpack_rows(["tea", "jam"], pack_rows(["tea", "jam"], {"jam": {"price": 2}}))
    {'jam': {'price': 2}}
    """
    return np.frombuffer(_json([rows.get(each) for each in ids]).encode(), np.uint8)


def unpack_rows(ids: Sequence[Hashable], data: npt.NDArray[np.uint8]) -> dict[Hashable, Row]:
    """Return what :func:`pack_rows` was given."""
    found = zip(ids, json.loads(data.tobytes()), strict=True)
    return {each: row for each, row in found if row is not None}


class Kinds:
    """What the columns of a training table are, so that cells of text become what they say.

    Parameters
    ----------
    features
        Kind and state of a maker of features.
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        state = features["state"]
        table = state.get("table", state)
        self.columns: dict[str, str] = dict(table.get("kinds", {}))
        self.id_name: str = table.get("id_name") or "item"
        encoders = zip(table.get("columns", ()), table.get("encoders", {}).values(), strict=True)
        self._encoders: dict[str, Mapping[str, Any]] = dict(encoders)

    def typed(self, row: Mapping[str, Any]) -> Row:
        """Return the cells of a row: numbers as numbers, tags as lists, long texts cut."""
        return {column: self._cell(column, value) for column, value in row.items()}

    def _cell(self, column: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        kind, separator = self.columns.get(column), self._of(column, "separator")
        if kind == "number":
            number = self._number(column, value)
            return number if number is not None and math.isfinite(number) else None
        if kind == "tags" and separator:
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value[:LONGEST_TEXT]

    def fits(self, column: str, value: Any) -> bool:
        """Tell whether a cell may stand in its column: a number or nothing in one of numbers."""
        if self.columns.get(column) != "number" or isinstance(value, int | float | None):
            return True
        if not isinstance(value, str):
            return False
        return value.strip() in EMPTY or self._number(column, value) is not None

    def _number(self, column: str, text: str) -> float | None:
        try:
            return float(plain_number(text.strip(), self._of(column, "comma") or ""))
        except ValueError:
            return None

    def _of(self, column: str, field: str) -> Any:
        return self._encoders.get(column, {}).get(field)


# -- filters ---------------------------------------------------------------------------------------


LONGEST_FILTER = 2_000
"""Characters of a filter, and how deep its brackets and negations may be nested."""
DEEPEST = 50

Mask = npt.NDArray[np.bool_]
Test = Callable[["Columns"], Mask]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?!\w))
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<word>[^\W\d]\w*|`[^`]+`) | (?P<sign><=|>=|!=|[=<>(),])
    )""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None}
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# -- columns -------------------------------------------------------------------------------------


class Column:
    """One column as arrays. A cell that is a list counts as each of its values.

    Parameters
    ----------
    cells
        A value per item, None where there is none.
    """

    def __init__(self, cells: list[Any]) -> None:
        pairs = [
            (row, value)
            for row, cell in enumerate(cells)
            if cell is not None
            for value in (cell if type(cell) is list else (cell,))
        ]
        numbers = [pair for pair in pairs if type(pair[1]) in (int, float)]
        others = [pair for pair in pairs if type(pair[1]) in (str, bool)]
        self._codes: dict[str | bool, int] = {}
        codes = [self._codes.setdefault(value, len(self._codes)) for _, value in others]
        self._coded = np.array([row for row, _ in others], np.int64), np.array(codes, np.int64)
        self._counted = np.array([row for row, _ in numbers], np.int64)
        self._numbers = np.array([value for _, value in numbers], np.float64)
        self._filled = np.zeros(len(cells), np.bool_)
        self._filled[self._coded[0]] = self._filled[self._counted] = True

    def test(self, sign: str, value: Any) -> Mask:
        """Return which items have a value for which the comparison holds."""
        if value is None:
            return ~self._filled
        found, compare = np.zeros(len(self._filled), np.bool_), _SIGNS[sign]
        if not isinstance(value, str | bool):
            found[self._counted[compare(self._numbers, value)]] = True
            return found
        rows, codes = self._coded
        if sign == "=":
            found[rows[codes == self._codes.get(value, -1)]] = True
            return found
        known = [type(other) is type(value) and compare(other, value) for other in self._codes]
        found[rows[np.array(known, np.bool_)[codes]]] = True
        return found


class Columns:
    """What is known of the items of a catalogue, by column; arrays are made when first needed.

    Parameters
    ----------
    catalog, metadata
        The items, and their columns by id.
    counts
        How many users clicked an item, by id.
    """

    def __init__(
        self,
        catalog: Catalog,
        metadata: Mapping[Hashable, Row],
        counts: Mapping[Hashable, int],
    ) -> None:
        self.catalog, self.metadata = catalog, metadata
        self.popular: Floats = np.array([counts.get(each, 0) for each in catalog.ids], np.float64)
        self._rows: list[Row] = [metadata.get(each, {}) for each in catalog.ids]
        self.names = list(dict.fromkeys(name for row in self._rows for name in row))
        self._columns: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = Column([row.get(name) for row in self._rows])
        return found


class Picked(Sequence[Hashable]):
    """Some of the names of items."""

    def __init__(self, names: Sequence[Hashable], rows: Ints) -> None:
        self.names, self.rows = names, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.names[int(self.rows[place])]


# -- the grammar ---------------------------------------------------------------------------------


class _Parser:
    """Reads a filter: ``or`` of ``and`` of ``not`` of comparisons and brackets."""

    def __init__(self, text: str) -> None:
        self.text, self.depth = text, 0
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None:
                start = len(text) - len(text[place:].lstrip())
                raise self.wrong("a column, a value or a sign", text[start : start + 20], start)
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind], found.start(kind)))
            place = found.end()
        self.tokens.append(("end", "", len(text)))

    def wrong(self, wanted: str, got: str, place: int) -> InvalidArgument:
        shown = brief(got) if got else "the end"
        return InvalidArgument(
            f"filter must have {wanted} at character {place + 1}, got {shown}; such as "
            f'category = "tea" and price < 20'
        )

    def take(self, *words: str) -> str | None:
        """Go over the next word or sign, if it is one of these."""
        kind, text, _ = self.tokens[0]
        if kind in ("word", "sign") and text.lower() in words:
            self.tokens.pop(0)
            return text.lower()
        return None

    def expect(self, word: str) -> None:
        if self.take(word) is None:
            raise self.wrong(repr(word), *self.tokens[0][1:])

    def whole(self) -> Test:
        found = self.either()
        if self.tokens[0][0] != "end":
            raise self.wrong("'and', 'or' or the end", *self.tokens[0][1:])
        return found

    def either(self) -> Test:
        parts = [self.every()]
        while self.take("or"):
            parts.append(self.every())
        return lambda columns: np.logical_or.reduce([part(columns) for part in parts])

    def every(self) -> Test:
        parts = [self.one()]
        while self.take("and"):
            parts.append(self.one())
        return lambda columns: np.logical_and.reduce([part(columns) for part in parts])

    def one(self) -> Test:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"at most {DEEPEST} levels", *self.tokens[0][1:])
        if self.take("not"):
            inner = self.one()
            found: Test = lambda columns: ~inner(columns)  # noqa: E731
        elif self.take("("):
            found = self.either()
            self.expect(")")
        else:
            found = self.comparison()
        self.depth -= 1
        return found

    def comparison(self) -> Test:
        kind, name, place = self.tokens.pop(0)
        if kind != "word" or name.lower() in (*_WORDS, "and", "or", "in"):
            raise self.wrong("a column", name, place)
        name = name.strip("`")
        negated = self.take("not") is not None
        sign = self.take("in") if negated else self.take("in", "!=", *_SIGNS)
        if sign is None:
            wanted = "'in'" if negated else "a sign (=, !=, <, <=, >, >=) or 'in'"
            raise self.wrong(wanted, *self.tokens[0][1:])
        negated |= sign == "!="
        if sign == "in":
            self.expect("(")
            values = [self.value("=")]
            while self.take(","):
                values.append(self.value("="))
            self.expect(")")
        else:
            values = [self.value(str(sign))]
        sign = "=" if sign in ("in", "!=") else str(sign)

        def test(columns: Columns) -> Mask:
            if name not in columns.names:
                known = ", ".join(columns.names) or "none"
                raise self.wrong(f"a column of the items ({known})", name, place)
            column = columns[name]
            found: Mask = np.logical_or.reduce([column.test(sign, value) for value in values])
            return ~found if negated else found

        return test

    def value(self, sign: str) -> Any:
        kind, text, place = self.tokens.pop(0)
        if kind == "number":
            number = float(text)
            if abs(number) < np.inf:
                return number
            raise self.wrong("a finite number", text, place)
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
        if kind == "word" and text.lower() in _WORDS:
            found = _WORDS[text.lower()]
            if found is None and sign not in ("=", "!="):
                raise self.wrong("a value that has an order", text, place)
            return found
        raise self.wrong('a value ("text", 20, true, false or null)', text, place)


@lru_cache(maxsize=1_000)
def read_filter(text: Any) -> Test:
    """Return the test of a filter; raise if it is none, and say where.

    Comparisons (``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in (...)``) of a column with a text,
    a number, ``true``, ``false`` or ``null``, joined by ``and``, ``or``, ``not`` and brackets. What
    an item does not have compares to nothing but ``null``; of a list, one value is enough.

    >>> catalog = Catalog(np.eye(3), ["tea", "jam", "oats"])
    >>> rows = {"tea": {"price": 3, "kind": "drink"}, "jam": {"price": 25}}
    >>> read_filter('kind = "drink" or price > 20')(Columns(catalog, rows, {})).tolist()
    [True, True, False]
    """
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_FILTER:
        raise InvalidArgument(
            f"filter must be text of 1 to {LONGEST_FILTER} characters, got {brief(text)}"
        )
    return _Parser(text).whole()
