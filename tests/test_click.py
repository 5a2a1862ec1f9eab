"""The dependent click model and its special case, the cascade, against every outcome."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.click import DCM, Cascade
from tests.reference import dcm
from tests.reference.problems import examples

CHANCES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4)
FALLING = CHANCES.map(lambda each: sorted(each, reverse=True))


@examples(60)
@given(CHANCES, CHANCES, st.none() | FALLING)
def test_value_is_the_sum_over_all_outcomes(attraction, stop, discounts):
    expected = dcm.value(attraction, stop, discounts or (1.0,))
    model = DCM(stop, discounts=discounts)
    assert model.value(np.array(attraction)) == pytest.approx(expected, abs=1e-12)


@examples(40)
@given(CHANCES, st.none() | FALLING)
def test_the_cascade_is_the_case_where_every_click_ends(attraction, discounts):
    expected = dcm.value(attraction, (1.0,), discounts or (1.0,))
    model = Cascade(discounts=discounts)
    assert model.value(np.array(attraction)) == pytest.approx(expected, abs=1e-12)


def test_samples_are_the_literal_user_s():
    model, k = DCM([0.9, 0.4, 0.1]), 5
    attraction = np.array([0.3, 0.8, 0.5, 0.9, 0.2])
    for seed in range(200):
        rng = np.random.default_rng(seed)
        attracted, ends = rng.random(k) < attraction, rng.random(k) < [0.9, 0.4, 0.1, 0.1, 0.1]
        examined, clicks, _ = dcm.look(attracted, ends)
        found = model.sample(attraction, np.random.default_rng(seed))
        assert (found.examined, found.clicks) == (examined, clicks)


@examples(60)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=3, max_size=5),
    st.sampled_from([[1.0], [1.0, 0.4], [0.8, 0.8, 0.1], [0.5]]),
    st.none() | FALLING,
)
def test_an_environment_s_value_and_best_list(attraction, stop, discounts):
    env = cc.environments.Matrix(
        [attraction], np.eye(len(attraction)), click=DCM(stop, discounts=discounts)
    )
    env.next_user()
    lists = [np.array(rows) for rows in permutations(range(len(attraction)), 3)]
    worth = [dcm.value(np.array(attraction)[rows], stop, discounts or (1.0,)) for rows in lists]
    for rows, expected in zip(lists, worth, strict=True):
        assert env.value(0, rows) == pytest.approx(expected, abs=1e-12)
    assert env.best_value(0, 3) == pytest.approx(max(worth), abs=1e-12)
    best = cc.environments.Oracle(env).recommend(0, env.catalog, 3)
    assert env.regret(0, best) == pytest.approx(0.0, abs=1e-12)


def test_what_a_click_is_worth():
    env = cc.environments.Matrix(
        [[1.0, 0.0]], np.eye(2), click=DCM([1.0, 0.5], discounts=[1.0, 0.25])
    )
    assert env.reward(cc.Feedback(examined=2, clicks=())) == 0.0
    assert env.reward(cc.Feedback(examined=3, clicks=(0, 2))) == 1.0
    assert env.reward(cc.Feedback(examined=3, clicks=(2,))) == 0.25
    plain = cc.environments.Matrix([[1.0, 0.0]], np.eye(2))
    assert plain.reward(cc.Feedback(examined=3, clicks=(2,))) == 1.0


def test_discounts_need_chances_that_do_not_rise():
    with pytest.raises(cc.errors.InvalidArgument, match="never rise"):
        cc.environments.Matrix([[0.5]], [[1.0]], click=DCM([0.5, 0.9], discounts=[1.0, 0.5]))


@pytest.mark.parametrize("discounts", [[], [0.5, 0.6], [1.2], [np.nan], "1", 0.5])
def test_bad_discounts(discounts):
    for make in (lambda: DCM(0.5, discounts=discounts), lambda: Cascade(discounts=discounts)):
        with pytest.raises(cc.errors.InvalidArgument, match="discounts"):
            make()


@pytest.mark.parametrize(
    "chances",
    [[], [1.5], [-0.1], [np.nan], [[0.5]], "x", None, [0.5, "a"], [[0.5], [0.1, 0.2]], 1j],
)
def test_bad_chances(chances):
    with pytest.raises(cc.errors.InvalidArgument, match="stop must be probabilities"):
        DCM(chances)
    for call in (DCM(0.5).value, lambda each: DCM(0.5).sample(each, np.random.default_rng(1))):
        with pytest.raises(cc.errors.InvalidArgument, match="attraction must be probabilities"):
            call(chances)


@pytest.mark.parametrize("click", ["dcm", 5, DCM, object()])
def test_an_environment_wants_a_click_model(click):
    with pytest.raises(cc.errors.InvalidArgument, match="click must be a click model, such as"):
        cc.environments.Matrix([[0.5]], [[1.0]], click=click)


def test_shown_as_it_is_made():
    assert repr(DCM([0.5, 0.2])) == "DCM(stop=[0.5, 0.2])"
    assert repr(DCM(0.5, discounts=(1, 0.5))) == "DCM(stop=[0.5], discounts=[1.0, 0.5])"
    assert repr(Cascade()) == "Cascade()"
    assert repr(Cascade(discounts=[0.5])) == "Cascade(discounts=[0.5])"
