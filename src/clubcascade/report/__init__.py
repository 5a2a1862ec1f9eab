"""Reports: result folders become figures and a page. Reads files only, never policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clubcascade.experiment.lazy import doors

if TYPE_CHECKING:
    from clubcascade.report.contest_table import write_contests
    from clubcascade.report.curves import Curve, curves_of
    from clubcascade.report.figures import (
        FIGURES,
        figure1_synthetic,
        figure2_yelp,
        figure3_movielens,
        figure4_ctr,
        figure5_multiple,
        save_all_figures,
        save_figures,
    )
    from clubcascade.report.markdown import write_markdown
    from clubcascade.report.overview import save_overview
    from clubcascade.report.page.whole import write_report

__all__ = [
    "FIGURES",
    "Curve",
    "curves_of",
    "figure1_synthetic",
    "figure2_yelp",
    "figure3_movielens",
    "figure4_ctr",
    "figure5_multiple",
    "save_all_figures",
    "save_figures",
    "save_overview",
    "write_contests",
    "write_markdown",
    "write_report",
]

__getattr__ = doors(
    __name__,
    {
        "FIGURES": "figures",
        "Curve": "curves",
        "curves_of": "curves",
        "figure1_synthetic": "figures",
        "figure2_yelp": "figures",
        "figure3_movielens": "figures",
        "figure4_ctr": "figures",
        "figure5_multiple": "figures",
        "save_all_figures": "figures",
        "save_figures": "figures",
        "save_overview": "overview",
        "write_contests": "contest_table",
        "write_markdown": "markdown",
        "write_report": "page.whole",
    },
)
