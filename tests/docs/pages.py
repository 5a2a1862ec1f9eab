"""The pages of the documentation, and the code in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(page):
    return page.read_text(encoding="utf-8")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def fences(text, language="python"):
    """The fenced blocks of a language: (what follows its name, first line's number, code)."""
    return [
        (found[2].strip(), text[: found.start(3)].count("\n") + 1, found[3])
        for found in _FENCE.finditer(text)
        if found[1] == language
    ]


def titled(text, title):
    """The block of that title."""
    (code,) = [code for info, _, code in fences(text) if f'title="{title}"' in info]
    return code
