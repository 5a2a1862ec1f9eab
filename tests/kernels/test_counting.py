"""The Kullback-Leibler index against a fine search."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import counting
from tests.reference.problems import examples


@pytest.mark.compiled  # divides by zero, which is a number there
@examples(300)
@given(st.integers(1, 2000), st.floats(0, 1), st.floats(0, 30))
def test_index_is_the_largest_allowed(seen, share, level):
    mean = round(share * seen) / seen
    q = counting.kl_index(mean, seen, level)
    assert mean <= q <= 1.0
    low, high = mean, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if seen * counting.divergence(mean, middle) <= level:
            low = middle
        else:
            high = middle
    assert q == pytest.approx(low, abs=1e-7)


def test_divergence_at_the_edges():
    assert counting.divergence(0.0, 0.0) == 0.0
    assert counting.divergence(1.0, 1.0) == 0.0
    assert counting.divergence(0.5, 0.0) == math.inf
    assert counting.divergence(0.5, 1.0) == math.inf
