"""CascadeUCB1 against the algorithm of its paper."""

from __future__ import annotations

import pytest
from hypothesis import given

import clubcascade as cc
from tests.reference.cascade_ucb1 import CascadeUCB1
from tests.reference.problems import examples, play, problems


@examples(80)
@given(problems(most_rounds=40, only_catalogs=True, one_catalog=True))
def test_agrees_with_the_paper(problem):
    reference = CascadeUCB1(len(problem.catalogs[0]))
    play(
        problem,
        cc.CascadeUCB1(),
        bounds=lambda step: reference.bounds(),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            ranking, examined, clicks
        ),
    )


def test_loose_items_have_no_counts():
    policy = cc.CascadeUCB1()
    with pytest.raises(cc.errors.InvalidArgument, match="Catalog"):
        policy.recommend("alice", [[1.0], [0.5]], 1)
