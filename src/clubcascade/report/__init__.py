"""Reports: result folders become figures and a page. Reads files only, never policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clubcascade.experiment.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from clubcascade.report.contest import write_contests
    from clubcascade.report.figures import figure, save_all_figures, save_figures, save_overview
    from clubcascade.report.markdown import write_markdown
    from clubcascade.report.measures import Curve, curves_of
    from clubcascade.report.page import write_report

__all__ = [
    "Curve",
    "curves_of",
    "figure",
    "save_all_figures",
    "save_figures",
    "save_overview",
    "write_contests",
    "write_markdown",
    "write_report",
]

_MODULES = {
    "contest": ("write_contests",),
    "figures": ("figure", "save_all_figures", "save_figures", "save_overview"),
    "markdown": ("write_markdown",),
    "measures": ("Curve", "curves_of"),
    "page": ("write_report",),
}
__getattr__ = lazy_attributes(__name__, _MODULES)
