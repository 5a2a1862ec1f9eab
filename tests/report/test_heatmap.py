from __future__ import annotations

import numpy as np
import pytest

from clubcascade.experiment.results import Results
from clubcascade.report.figures import figure
from tests.report import made


def test_a_sweep_is_a_map_of_the_last_values_between_its_limits():
    plan = made.sweep()
    finals = {("two clusters", c.label): 100.0 + 10 * i for i, c in enumerate(plan.policies)}
    drawn = figure(Results(plan, made.curves(plan, made.regrets(finals))))
    axes = drawn.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("beta", "alpha")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.1", "0.3", "1.0"]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["Multiple\n(alpha → 0)", "0.5", "1.0", "2.0", "C3\n(alpha → ∞)"]
    cells = [text for text in axes.texts if text.get_text()]
    assert len(cells) == 15
    (best,) = [text for text in cells if text.get_weight() == "bold"]
    assert best.get_position() == (0.5, axes.get_yticks()[1])
    assert axes.get_title("left").startswith("two clusters\ncohort: 2")
    heights = axes.get_yticks()
    assert np.diff(heights) == pytest.approx([1.4, 1.0, 1.0, 1.4])
    bar = [tick.get_text() for tick in drawn.axes[1].get_yticklabels()]
    assert len(set(bar)) == len(bar) == 5


def test_a_map_of_equal_values_and_one_without_any():
    plan = made.sweep()
    finals = {("two clusters", c.label): 0.0 for c in plan.policies}
    results = Results(plan, made.curves(plan, made.regrets(finals)))
    assert len(figure(results).axes[0].texts) == 15
