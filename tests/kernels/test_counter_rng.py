"""Luck by position: uniform, independent across rounds and places, the same everywhere."""

import numpy as np

from clubcascade.kernels import counter_rng

KEY = np.uint64(12345)


def test_uniform_numbers_are_uniform_and_independent():
    draws = np.array(
        [[counter_rng.uniform(KEY, t, place) for place in range(40)] for t in range(500)]
    )
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    counts, _ = np.histogram(draws, bins=20, range=(0, 1))
    expected = draws.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 45  # chi-square, 19 degrees of freedom
    centred = draws - 0.5
    for other in (centred[1:, :], np.roll(centred, 1, axis=1)[: len(centred) - 1]):
        correlation = (centred[: len(other)] * other).mean() / (1 / 12)
        assert abs(correlation) < 5 / np.sqrt(other.size)


def test_normal_numbers_are_normal():
    draws = np.array([counter_rng.normal(KEY, t, place) for t in range(500) for place in range(20)])
    assert abs(draws.mean()) < 5 / np.sqrt(draws.size)
    assert abs(draws.var() - 1) < 0.08
    assert abs((draws**4).mean() - 3) < 0.4


def test_published_values_of_splitmix64():
    # the first outputs of SplitMix64 from state 0 are known constants
    assert int(counter_rng.mix(np.uint64(0))) == 0xE220A8397B1DCDAF
    assert int(counter_rng.mix(np.uint64(0x9E3779B97F4A7C15))) == 0x6E789E6AA1B965F4
