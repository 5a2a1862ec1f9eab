"""Filters on the metadata of items, such as ``category = "tea" and price < 20``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.errors import InvalidArgument
from clubcascade.service.metadata import Row
from clubcascade.validation import brief

LONGEST = 2_000
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
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST:
        raise InvalidArgument(
            f"filter must be text of 1 to {LONGEST} characters, got {brief(text)}"
        )
    return _Parser(text).whole()
