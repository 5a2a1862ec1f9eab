"""Small changes to the pages while the site is built."""

import re

ROLE = re.compile(r":(?:class|func|meth|attr|mod|data|exc):(?=<code>)")


def on_page_content(html, **_):
    """Drop the role in front of a name: the docstrings write ``:func:`name```."""
    return ROLE.sub("", html)
