"""The adjusted Rand index against a count of all pairs."""

import numpy as np
import pytest

from clubcascade.simulation import adjusted_rand_index


def test_rand_index_agrees_with_pair_counting():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(2, 12))
        ours, true = rng.integers(0, 4, n), rng.integers(0, 3, n)
        both = sum(
            1 for i in range(n) for j in range(i) if ours[i] == ours[j] and true[i] == true[j]
        )
        left = sum(1 for i in range(n) for j in range(i) if ours[i] == ours[j])
        right = sum(1 for i in range(n) for j in range(i) if true[i] == true[j])
        expected = left * right / (n * (n - 1) / 2)
        most = (left + right) / 2
        wanted = 1.0 if most == expected else (both - expected) / (most - expected)
        assert adjusted_rand_index(ours, true) == pytest.approx(wanted)
