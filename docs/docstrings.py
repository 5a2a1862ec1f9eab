"""Docstrings as Markdown: what the sources write for plain readers, made ready for the site.

Roles such as ``:func:`name``` lose their role, blocks that stand in a description (a literal
block after ``::``, an example) are fenced, and parameters that share a description get one each.
"""

import re
import textwrap

import griffe

ROLE = re.compile(r":(?:class|func|meth|attr|mod|data|exc):(?=`)")
SECTION = re.compile(r"^[A-Z]\w+\n-{3,}$", re.MULTILINE)
LITERAL = re.compile(r"::\n\n((?:(?: {4}.*)?\n)+)")
SHARED = re.compile(r"^(\w+(?:, \w+)+)\n((?: {4}.*(?:\n|$))+)", re.MULTILINE)
EXAMPLE = re.compile(r"^>>>.*(?:\n.+)*", re.MULTILINE)


def as_markdown(text):
    """Rewrite one docstring; numpydoc sections keep their own layout."""
    text = ROLE.sub("", text)
    section = SECTION.search(text)
    end = section.start() if section else len(text)
    head, rest = text[:end] + "\n", text[end:]
    head = LITERAL.sub(lambda m: f"\n```text\n{textwrap.dedent(m[1]).strip()}\n```\n\n", head)
    head = EXAMPLE.sub(lambda m: f"```pycon\n{m[0]}\n```", head)
    return head + SHARED.sub(_each, rest)


def _each(entry):
    """Give each of several parameters that share a description an entry of its own."""
    return "".join(f"{name}\n{entry[2].rstrip()}\n" for name in entry[1].split(", "))


class Docstrings(griffe.Extension):
    """Rewrites the docstrings of a package once it is loaded."""

    def on_package(self, *, pkg, **_):
        """Walk the package."""
        todo = [pkg]
        while todo:
            part = todo.pop()
            if part.docstring is not None:
                part.docstring.value = as_markdown(part.docstring.value)
            todo += [member for member in part.members.values() if not member.is_alias]
