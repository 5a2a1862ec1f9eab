"""Columns of a table, found by their names."""

import difflib
import re
from collections.abc import Sequence

from clubcascade.errors import InvalidData

KNOWN = {
    "user": "user userid uid customer customerid visitor visitorid member memberid reviewer "
    "reviewerid account accountid client clientid",
    "item": "item itemid iid movie movieid product productid business businessid article articleid "
    "book bookid isbn asin song songid track trackid artist artistid game gameid video videoid sku",
    "rating": "rating ratings stars score overall",
    "time": "timestamp time date datetime unixreviewtime ts",
    "title": "title name label headline",
    "shown": "shown list slate impressions",
    "clicked": "clicked click clicks",
}
"""Names that a column is recognised by, the usual ones first, without case and punctuation."""

EMPTY = ("", "NA", "N/A", "null", "None", "-")
"""Cells of text that hold no value."""
COMMAS = {
    "thousands": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$",
    "decimal": r"^[+-]?(\d+,\d+|\d{1,3}(\.\d{3})+(,\d+)?)$",
}
"""Numbers with commas, by what a comma means: 1,234.50 or 1.234,50."""


def has_column(role: str, found: Sequence[str]) -> bool:
    """Tell whether the name of a column says that it has this role.

    >>> has_column("time", ["user", "item", "Time"]), has_column("time", ["user"])
    (True, False)
    """
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in found}
    return not plain.isdisjoint(KNOWN[role].split())


def column_of(role: str, found: Sequence[str], wanted: str | None, where: object) -> str:
    """Return the column for a role: the wanted one, or the one whose name says it.

    >>> column_of("user", ["userId", "movieId", "rating"], None, "ratings.csv")
    'userId'
    """
    names = ", ".join(repr(name[:40]) for name in found[:30])
    listed = f"Columns found: {names}{', …' if len(found) > 30 else ''}"
    if wanted is not None:
        if wanted in found:
            return wanted
        near = difflib.get_close_matches(wanted, found, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InvalidData(f"{where} has no column {wanted!r}{hint} {listed}")
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(found)}
    for name in KNOWN[role].split():
        if name in plain:
            return plain[name]
    raise InvalidData(
        f"{where} has no column that looks like the {role}; name it with --{role}. {listed}"
    )


def plain_number(text: str, comma: str) -> str:
    """Return a number with commas as Python writes it; ``comma`` is what they mean, or nothing.

    >>> plain_number("1.234,50", "decimal"), plain_number("1,234.50", "thousands")
    ('1234.50', '1234.50')
    """
    if not comma or not re.match(COMMAS[comma], text):
        return text
    return text.replace("," if comma == "thousands" else ".", "").replace(",", ".")
