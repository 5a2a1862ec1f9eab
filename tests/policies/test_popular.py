"""Popular against its formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import clubcascade as cc
from tests.reference.problems import examples, play, problems


class Literal:
    """Click rates of items, smoothed by the rate of all: two counts per item and a division."""

    def __init__(self, n_items, prior_count):
        self.seen, self.clicked = [0] * n_items, [0] * n_items
        self.prior_count = prior_count

    def rates(self):
        rate = sum(self.clicked) / sum(self.seen) if sum(self.seen) else 0.0
        pairs = zip(self.clicked, self.seen, strict=True)
        return np.array([(c + self.prior_count * rate) / (n + self.prior_count) for c, n in pairs])

    def update(self, shown, examined, clicks):
        for k in range(examined):
            self.seen[shown[k]] += 1
            self.clicked[shown[k]] += k in clicks


@examples(80)
@given(problems(most_rounds=40, only_catalogs=True, one_catalog=True))
def test_agrees_with_its_formula(problem):
    reference = Literal(len(problem.catalogs[0]), 2.5)
    play(
        problem,
        cc.Popular(prior_count=2.5),
        bounds=lambda step: reference.rates(),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            ranking, examined, clicks
        ),
    )


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("inf"), "4"])
def test_bad_prior_counts(wrong):
    with pytest.raises(cc.errors.InvalidArgument, match="prior_count must be a number"):
        cc.Popular(prior_count=wrong)
