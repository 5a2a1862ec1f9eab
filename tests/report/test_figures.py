from __future__ import annotations

import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from clubcascade.experiment.results import Results
from clubcascade.report.figures import figure, save_all_figures, save_figures
from clubcascade.report.plots import REFERENCE, _write_legend, curve_figure
from clubcascade.report.style import SETTINGS
from tests.experiment import tiny
from tests.report import made


def test_figure_1_has_a_panel_per_environment_and_a_line_per_policy():
    drawn = figure(made.results(figure=1))
    assert [axes.get_title("left") for axes in drawn.axes] == ["(a)", "(b)"]
    for axes in drawn.axes:
        assert axes.get_xlabel() == "round t"
        assert axes.get_ylabel() == "cumulative regret"
        labels = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
        assert labels == ["CLUB", "random"]
        assert len(axes.collections) == 2
        styles = {(line.get_color(), str(line.get_linestyle())) for line in axes.lines}
        assert len(styles) == 3
        np.testing.assert_allclose(axes.lines[-1].get_ydata(), [0, 0])
        assert len({line.get_marker() for line in axes.lines}) == 3
        np.testing.assert_allclose(axes.lines[0].get_ydata(), [20.0, 40.0, 60.0])
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CLUB", "random", "oracle"]
    assert drawn.get_suptitle() == "Figure 1: tiny"


def test_final_values_stand_at_the_ends_and_a_cut_line_says_so():
    drawn = figure(made.results(scale=100.0))
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert texts == ["60", "↑ 6,000"]
    assert drawn.axes[0].get_ylim()[1] < 100


def test_a_panel_without_results_says_so():
    results = made.results()
    some = results.curves[results.curves["panel"] == "(a)"]
    drawn = figure(Results(results.experiment, some))
    assert [text.get_text() for text in drawn.axes[1].texts] == ["no results"]


def test_clicks_are_drawn_where_no_regret_is_known():
    results = made.results()
    assert figure(results).axes[0].get_ylabel() == "cumulative regret"
    results.curves["regret"] = np.nan
    assert figure(results).axes[0].get_ylabel() == "cumulative clicks"


@pytest.mark.parametrize(
    ("measure", "label", "top"),
    [
        ("ctr", "clicks per round so far", 0.75),
        ("missed", "clicks missed", 0.0),
        ("reward", "cumulative clicks", 75.0),
    ],
)
def test_what_the_experiment_shows_is_drawn_with_the_oracle_beside_it(measure, label, top):
    plan = made.experiment([made.replay("u=40", "yelp")])
    keys = {("u=40", policy.label): 0.5 for policy in plan.policies}
    results = Results(plan, made.curves(plan, made.rates(keys, ceiling=0.75)))
    (axes,) = curve_figure(results, measure=measure).axes
    assert axes.get_ylabel() == label
    assert axes.lines[-1].get_ydata()[-1] == pytest.approx(top)
    assert axes.get_ylim()[1] > top


def test_shares_are_written_with_their_digits():
    results = made.results()
    drawn = curve_figure(results, measure="rand_index")
    assert [text.get_text() for text in drawn.axes[0].texts] == ["0.500", "0.500"]
    assert drawn.axes[0].get_ylim() == pytest.approx((-0.05, 1.05))


def test_a_logarithmic_scale_has_no_line_at_zero():
    drawn = curve_figure(made.results(scale=1000.0), measure="regret", log=True)
    axes = drawn.axes[0]
    assert axes.get_yscale() == "log" and len(axes.lines) == 2
    assert axes.get_ylim()[1] > 60_000
    low, high = (text.xy[1] for text in axes.texts)
    assert 0 <= low < high <= 1


@pytest.mark.parametrize(("number", "name"), [(5, "figure5_multiple"), (77, "figure")])
def test_figures_are_saved_as_png_and_svg_twice_the_same(tmp_path, number, name):
    results = made.results(figure=number)
    rows = results.curves.assign(n_clusters=results.curves["round"])
    made.write(tmp_path, Results(results.experiment, rows))
    before = {key: mpl.rcParams[key] for key in SETTINGS}
    paths = save_figures(tmp_path, extras=True)
    names = [f"{name}.png", f"{name}.svg", "clusters.png", "clusters.svg"]
    assert [path.name for path in paths] == names
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"\x89PNG") and b"<svg" in first[1]
    assert [path.read_bytes() for path in save_figures(tmp_path)] == first[:2]
    assert {key: mpl.rcParams[key] for key in SETTINGS} == before


def test_all_folders_are_drawn_but_those_without_results(tmp_path):
    results = made.results()
    for name in ("one", "two", "three"):
        rows = results.curves.iloc[:0] if name == "two" else results.curves
        made.write(tmp_path / name, Results(results.experiment, rows))
    drawn = {path.relative_to(tmp_path).as_posix() for path in save_all_figures(tmp_path)}
    assert drawn == {
        f"{name}/figure.{kind}" for name in ("one", "three") for kind in ("png", "svg")
    }


def test_pyplot_is_not_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    figure(made.results()).savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("length", [3, 40, 70])
def test_long_names_are_not_cut_off(length):
    drawn = Figure(figsize=(10.8, 8.0))
    names = {f"{number} " + "x" * length: REFERENCE for number in range(7)}
    _write_legend(drawn, made.experiment([made.world("(a)")], ["cohort"]), names)
    (legend,) = drawn.legends
    assert legend.get_window_extent().width <= drawn.bbox.width


@pytest.mark.parametrize("many", [3, 12, 40])
def test_panels_keep_their_room_however_many_lines_there_are(many):
    policies = [tiny.policy("c3_ucb", f"C3-UCB, beta={n}", beta=float(n)) for n in range(1, many)]
    drawn = figure(made.results(scale=1.1, policies=policies))
    drawn.draw_without_rendering()
    (legend,) = drawn.legends
    for axes in drawn.axes:
        box = axes.get_window_extent()
        assert legend.get_window_extent().y1 < box.y0
        assert box.height > 2.0 * drawn.dpi
        values = sorted(text.get_window_extent().y0 for text in axes.texts)
        assert all(np.diff(values) > 0.1 * drawn.dpi)


@pytest.mark.parametrize("end", [0.03, 0.9, 1.12, 1.3, 2.6, 7.0, 130.0, 2601.0, 9e5, 7.3e6])
def test_no_two_ticks_have_the_same_label(end):
    results = made.results()
    rows = results.curves.assign(regret=results.curves["round"] * end / 3)
    (axes, _) = figure(Results(results.experiment, rows)).axes
    axes.figure.draw_without_rendering()
    for ticks in (axes.get_yticklabels(), axes.get_xticklabels()):
        written = [label.get_text() for label in ticks]
        assert len(set(written)) == len(written) > 2, written


def test_long_titles_and_long_runs_are_readable():
    results = made.results(panels=[tiny.panel("a title of many words " * 5)])
    rounds = results.curves["round"] * 1_000_000
    (axes,) = figure(Results(results.experiment, results.curves.assign(round=rounds))).axes
    assert max(len(line) for line in axes.get_title("left").splitlines()) <= 52
    axes.figure.draw_without_rendering()
    written = [label.get_text() for label in axes.get_xticklabels()]
    assert written[0] == "0" and written[-1] == "3M"
