"""Reports: result folders become figures and a page. Reads files only, never policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clubcascade.experiment.lazy import doors

if TYPE_CHECKING:
    from clubcascade.report.curves import Curve, curves_of
    from clubcascade.report.figures import FIGURES, figure1_synthetic, save_figures
    from clubcascade.report.page.whole import write_report

__all__ = ["FIGURES", "Curve", "curves_of", "figure1_synthetic", "save_figures", "write_report"]

__getattr__ = doors(
    __name__,
    {
        "FIGURES": "figures",
        "Curve": "curves",
        "curves_of": "curves",
        "figure1_synthetic": "figures",
        "save_figures": "figures",
        "write_report": "page.whole",
    },
)
