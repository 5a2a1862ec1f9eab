from __future__ import annotations

import numpy as np
import pytest

from clubcascade.experiment.results import Results
from clubcascade.report.measures import Reference, ceiling_of, reference
from tests.report import made

PLAN = made.experiment([made.world("(a)", n_clusters=3)])
KEYS = {("(a)", label): 0.5 for label in ("CLUB", "C3", "LinUCB")}
RESULTS = Results(PLAN, made.curves(PLAN, made.rates(KEYS, ceiling=0.75)))


@pytest.mark.parametrize(
    ("measure", "line"),
    [
        ("regret", Reference("oracle", 0.0, 0.0)),
        ("missed", Reference("oracle", 0.0, 0.0)),
        ("ctr", Reference("oracle", 0.75, 0.0)),
        ("reward", Reference("oracle", 0.0, 0.75)),
        ("n_clusters", Reference("true clusters", 3.0, 0.0)),
        ("rand_index", Reference("true clusters", 1.0, 0.0)),
    ],
)
def test_the_line_of_each_measure(measure, line):
    assert reference(RESULTS, PLAN.panels[0], measure) == line


def test_what_is_not_known_has_no_line():
    plan = made.experiment([made.replay("(a)", "yelp")])
    unknown = Results(plan, RESULTS.curves.assign(ceiling=np.nan, regret=np.nan))
    for measure in ("regret", "missed", "ctr", "reward", "n_clusters"):
        assert reference(unknown, plan.panels[0], measure) is None
    assert ceiling_of(Results(plan, RESULTS.curves.drop(columns="ceiling")), "(a)") is None


def test_the_ceiling_is_the_mean_over_seeds():
    rows = RESULTS.curves.assign(ceiling=RESULTS.curves["seed"] / 10)
    assert ceiling_of(Results(PLAN, rows), "(a)") == pytest.approx(0.15)
