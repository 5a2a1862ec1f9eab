"""Evidence by its definition: the probability of clicks under a normal of all samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import clubcascade as cc
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_evidence, cohort_selection
from clubcascade.kernels.cohort_evidence import evidence
from tests.reference.cohort_cascade import log_probability
from tests.reference.problems import examples


@examples(200)
@given(
    d=st.integers(1, 6),
    n=st.integers(1, 40),
    noise=st.floats(1e-4, 1.0),
    width=st.floats(1e-3, 10.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_evidence_is_the_probability_of_the_clicks(d, n, noise, width, seed):
    """The d x d formula, from sums alone, against the n x n normal of the samples."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) / math.sqrt(d)
    rows[rng.random(n) < 0.1] = 0.0
    clicks = (rng.random(n) < 0.4).astype(float)
    prior_mean = rng.standard_normal(d)
    root = rng.standard_normal((d, d))
    spread = width * (root @ root.T / d + 0.05 * np.eye(d))
    found = evidence(
        rows.T @ rows,
        rows.T @ clicks,
        prior_mean,
        np.linalg.inv(spread),
        np.linalg.slogdet(spread)[1],
        noise,
        np.zeros((d, d)),
        np.zeros(d),
    )
    shared = -0.5 * (n * math.log(2 * math.pi * noise) + clicks @ clicks / noise)
    whole = log_probability(rows, clicks, prior_mean, spread, noise)
    assert found + shared == pytest.approx(whole, rel=1e-7, abs=1e-6)
    covariance = noise * (np.eye(n) + rows @ spread @ rows.T)
    scipys = multivariate_normal.logpdf(clicks, rows @ prior_mean, covariance)
    assert whole == pytest.approx(scipys, rel=1e-7, abs=1e-6)


def test_evidence_of_nothing_is_the_same_everywhere():
    """Without feedback every prior_mean and every spread is equally probable."""
    for width in (0.1, 1.0, 7.0):
        nothing = evidence(
            np.zeros((3, 3)),
            np.zeros(3),
            np.arange(3.0),
            np.eye(3) / width,
            3 * math.log(width),
            0.2,
            np.zeros((3, 3)),
            np.zeros(3),
        )
        assert nothing == pytest.approx(0.0, abs=1e-12)


@examples(40)
@given(d=st.integers(1, 5), seed=st.integers(0, 2**32 - 1), noise=st.floats(1e-3, 1.0))
def test_no_evidence_is_above_its_ceiling(d, seed, noise):
    """Neither that of a cohort nor that of nobody; and it is reached where nothing is known."""
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((30, d))
    items /= np.linalg.norm(items, axis=1).max()
    policy = cc.CohortCascade(n_features=d, users=range(9), seed=int(seed))
    for t in range(150):
        user = t % 8  # the last one never comes
        shown = rng.permutation(30)[:4]
        liked = items[shown] @ np.eye(d)[user % d] > 0.1
        click = int(np.argmax(liked)) if liked.any() else None
        policy.update(user, items[shown], click=click)
    state, arrays = policy._cohorts.compiled, policy._cohorts.arrays
    within, between = state.within_variance, state.between_variance
    cohorts = np.flatnonzero(arrays["size"])
    assert len(cohorts) > 0
    for node in range(9):
        top = cohort_evidence.evidence_bound(state, node, 0, within + between, noise)
        found = [(cohort_evidence.of_new_cohort(state, node, noise), top)]
        for g in cohorts:
            top = cohort_evidence.evidence_bound(state, node, g, within, noise)
            found.append((cohort_evidence.of_cohort(state, node, g, noise), top))
        for value, top in found:
            assert value <= top + 1e-9 * max(1.0, abs(top))
            assert node < 8 or value == pytest.approx(top, abs=1e-9)


def test_few_observations_give_the_evidence_and_the_errors_of_their_sums():
    """Once from the observations, once from the sums; a large count says that they are many."""
    rng = np.random.default_rng(3)
    d = 24
    items = rng.standard_normal((40, d))
    items /= np.linalg.norm(items, axis=1).max()
    policy = cc.CohortCascade(n_features=d, users=range(6), memory=0, seed=1)
    for t in range(120):
        shown = rng.permutation(40)[:3]
        policy.update(0 if t < 2 else t % 5 + 1, items[shown], click=int(t % 3))
    state, arrays = policy._cohorts.compiled, policy._cohorts.arrays
    gram, moment, root = arrays["gram"][0], arrays["moment"][0], arrays["root"][0]
    mean, few = rng.standard_normal(d), int(arrays["count"][0])
    assert 3 <= few <= d // cohort_evidence.FEW
    for certain in (False, True):
        found, expected = (
            cohort_evidence._evidence_around(
                state, gram, moment, count, mean, root, certain, 0.01, 0.2
            )
            for count in (few, 1000)
        )
        assert found == pytest.approx(expected, rel=1e-9)
    shown, rewards = np.array([4, 8, 15]), np.array([0.0, 1.0, 0.0])
    errors = []
    for count in (few, 1000):
        arrays["count"][0] = count
        cohort_selection._predictor_errors(state, 0, items, shown, 3, rewards)
        errors.append(arrays["error"][-1, : constants.N_PREDICTORS].copy())
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-9)
    cohorts = np.flatnonzero(arrays["size"])
    for g in cohorts:
        values = []
        for count in (few, 1000):
            arrays["count"][0] = count
            values.append(cohort_evidence.of_cohort(state, 0, g, 0.2))
        assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert len(cohorts) > 0
