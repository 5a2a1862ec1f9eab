"""Evidence by its definition: the probability of clicks under a normal of all samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from clubcascade.kernels.cohort_evidence import evidence
from tests.reference.cohort_cascade import log_probability


@settings(max_examples=200, deadline=None)
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
    centre = rng.standard_normal(d)
    root = rng.standard_normal((d, d))
    spread = width * (root @ root.T / d + 0.05 * np.eye(d))
    found = evidence(
        rows.T @ rows,
        rows.T @ clicks,
        centre,
        np.linalg.inv(spread),
        np.linalg.slogdet(spread)[1],
        noise,
        np.zeros((d, d)),
        np.zeros((2, d)),
    )
    shared = -0.5 * (n * math.log(2 * math.pi * noise) + clicks @ clicks / noise)
    whole = log_probability(rows, clicks, centre, spread, noise)
    assert found + shared == pytest.approx(whole, rel=1e-7, abs=1e-6)
    covariance = noise * (np.eye(n) + rows @ spread @ rows.T)
    scipys = multivariate_normal.logpdf(clicks, rows @ centre, covariance)
    assert whole == pytest.approx(scipys, rel=1e-7, abs=1e-6)


def test_evidence_of_nothing_is_the_same_everywhere():
    """Without feedback every centre and every spread is equally probable."""
    for width in (0.1, 1.0, 7.0):
        nothing = evidence(
            np.zeros((3, 3)),
            np.zeros(3),
            np.arange(3.0),
            np.eye(3) / width,
            3 * math.log(width),
            0.2,
            np.zeros((3, 3)),
            np.zeros((2, 3)),
        )
        assert nothing == pytest.approx(0.0, abs=1e-12)
