"""The reference of the policies, made whole from the registry: a new policy is one file, no page.

Policies that the page names keep their place and their words. The others are added at its marks.
"""

import inspect

from clubcascade.policies import POLICIES

PAGE = "reference/policies.md"
ROWS, ENTRIES = "<!-- more rows -->\n", "<!-- more entries -->\n"


def on_page_markdown(markdown, *, page, **_):
    """Complete the page while the site is built (a hook of MkDocs)."""
    return complete(markdown) if page.file.src_uri == PAGE else markdown


def complete(text):
    """Return the page with a row and an entry for every policy of the package."""
    rows = entries = ""
    for name, kind in POLICIES.items():
        own = kind.__module__.startswith("clubcascade.policies.")
        if own and f"::: clubcascade.{kind.__name__}\n" not in text:
            path = f"{kind.__module__}.{kind.__name__}"
            words = inspect.getdoc(kind).partition("\n")[0]
            rows += f"| [`{kind.__name__}`][{path}] | `{name}` | {words} |\n"
            entries += f"::: {path}\n    options:\n"
            entries += "      members: false\n      inherited_members: false\n\n"
    return text.replace(ROWS, rows).replace(ENTRIES, entries)
