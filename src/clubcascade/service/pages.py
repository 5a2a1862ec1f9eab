"""The pages of the service: each one file, without anything from elsewhere."""

from __future__ import annotations

from importlib import resources

_HERE = resources.files("clubcascade.service") / "pages_html"

DOCS: str = (_HERE / "docs.html").read_text(encoding="utf-8")
"""``/docs``: the OpenAPI document, readable, with a form to try each address."""
PAGE: str = (_HERE / "ui.html").read_text(encoding="utf-8")
"""``/ui``: a model at work."""
