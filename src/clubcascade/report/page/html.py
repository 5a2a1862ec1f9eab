"""Small HTML: elements as text, in which everything that is not an element is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

VOID = frozenset({"meta", "br", "input"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element.

    Parameters
    ----------
    name
        Its name.
    children
        Elements, texts, lists of both; None is nothing. Texts are escaped.
    attributes
        Its attributes: a trailing underscore is dropped, an inner one becomes a hyphen. None is
        left out, True is an attribute without a value.

    Examples
    --------
    >>> print(tag("p", "1 < 2, ", tag("b", "really"), class_="note", data_of=None))
    <p class="note">1 &lt; 2, <b>really</b></p>
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: object) -> Markup:
    """Return elements and texts in a row.

    >>> print(join(["a & b", None, [tag("br")]]))
    a &amp; b<br>
    """
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, Iterable) and not isinstance(children, str):
        return Markup("".join(join(child) for child in children))
    return Markup(html.escape(str(children)))


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
