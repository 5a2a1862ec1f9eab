"""Formulas as MathML, made while the site is built: `$x$` and `$$x$$` in a page, as on GitHub."""

import html
import re

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content, **_):
    """Turn every formula of a page into MathML (a hook of MkDocs)."""
    return _FORMULA.sub(_mathml, content)


def _mathml(found):
    display = "block" if found[1] == "div" else "inline"
    formula = html.unescape(found[2]).strip()
    made = convert(formula, display=display)
    if "\\" in made:  # a command that it does not know
        raise ValueError(f"formula must be of commands that latex2mathml knows, got {formula!r}")
    return made.replace(
        "<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>"
    )  # "is distributed as" is an operator
