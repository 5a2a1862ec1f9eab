from __future__ import annotations

import io
import sys

import matplotlib as mpl
import numpy as np
import pytest

from clubcascade.experiment.results import Results, write_results
from clubcascade.report.figures import FIGURES, figure, figure1_synthetic, save_figures
from clubcascade.report.style import SETTINGS
from tests.report import made


def test_figure_1_has_a_panel_per_environment_and_a_line_per_policy():
    drawn = figure1_synthetic(made.results(figure=1))
    assert [axes.get_title("left") for axes in drawn.axes] == ["(a)", "(b)"]
    for axes in drawn.axes:
        assert axes.get_xlabel() == "round t"
        assert axes.get_ylabel() == "cumulative regret"
        labels = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
        assert labels == ["CLUB", "random"]
        assert len(axes.collections) == 2
        styles = {(line.get_color(), str(line.get_linestyle())) for line in axes.lines}
        assert len(styles) == 3
        assert axes.lines[-1].get_ydata() == [0, 0]
        np.testing.assert_allclose(axes.lines[0].get_ydata(), [20.0, 40.0, 60.0])
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CLUB", "random", "oracle"]
    assert drawn.get_suptitle() == "Figure 1: tiny"


def test_final_values_stand_at_the_ends_and_a_cut_line_says_so():
    drawn = figure1_synthetic(made.results(scale=100.0))
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert texts == ["60", "↑ 6,000"]
    assert drawn.axes[0].get_ylim()[1] < 100


def test_a_panel_without_results_says_so():
    results = made.results()
    some = results.curves[results.curves["panel"] == "(a)"]
    drawn = figure1_synthetic(Results(results.experiment, some))
    assert [text.get_text() for text in drawn.axes[1].texts] == ["no results"]


def test_clicks_are_drawn_where_no_regret_is_known():
    results = made.results()
    assert figure(results).axes[0].get_ylabel() == "cumulative regret"
    results.curves["regret"] = np.nan
    assert figure(results).axes[0].get_ylabel() == "cumulative clicks"


@pytest.mark.parametrize(("number", "name"), [(1, "figure1_synthetic"), (77, "figure")])
def test_figures_are_saved_as_png_and_svg_twice_the_same(tmp_path, number, name):
    results = made.results(figure=number)
    write_results(results.experiment, results.curves, tmp_path)
    before = {key: mpl.rcParams[key] for key in SETTINGS}
    paths = save_figures(tmp_path)
    assert [path.name for path in paths] == [f"{name}.png", f"{name}.svg"]
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"\x89PNG") and b"<svg" in first[1]
    assert [path.read_bytes() for path in save_figures(tmp_path)] == first
    assert {key: mpl.rcParams[key] for key in SETTINGS} == before


def test_pyplot_is_not_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    figure1_synthetic(made.results()).savefig(io.BytesIO(), format="png")


def test_every_figure_has_a_function_of_its_number():
    assert all(draw.__name__.startswith(f"figure{n}_") for n, draw in FIGURES.items())
