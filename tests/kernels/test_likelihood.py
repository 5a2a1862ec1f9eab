"""The likelihood equation of counted samples: its left side word for word, and its derivative."""

from __future__ import annotations

import numpy as np
import pytest

from clubcascade.kernels import likelihood as kernels
from clubcascade.kernels import samples
from clubcascade.links import read_link
from tests.kernels.test_newton import LINKS, Case
from tests.reference.problems import vectors


def counted(link, n_items=150):
    """An estimate with a list of more than two blocks of items, and all of its samples."""
    rng = np.random.default_rng(4)
    table = vectors(rng, n_items, 5)
    case = Case(5, link, penalty=0.3)
    X = table[np.append(np.arange(n_items), rng.integers(n_items, size=200))]
    y = rng.random(len(X)) < 0.4
    for x, click in zip(X, y, strict=True):
        case.see(x, click)
    return case, X, y, rng.standard_normal(5)


def gradient(case, theta):
    out = np.empty(len(theta))
    kernels.gradient(case.fits.struct, 0, samples.items_of(case.store), case.link, theta, out)
    return out


@pytest.mark.parametrize("link", LINKS)
def test_gradient_is_the_printed_sum(link):
    case, X, y, theta = counted(link)
    expected = 0.3 * theta + (read_link(link).mu(X @ theta) - y) @ X
    np.testing.assert_allclose(gradient(case, theta), expected, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_curvature_is_the_derivative_of_the_gradient(link):
    case, _, _, theta = counted(link)
    case.weights[:] = theta
    second = np.empty((5, 5))
    kernels.curvature(case.fits.struct, 0, samples.items_of(case.store), case.link, second)
    step = 1e-5 * np.eye(5)
    ahead = [gradient(case, theta + each) for each in step]
    behind = [gradient(case, theta - each) for each in step]
    numeric = (np.array(ahead) - np.array(behind)) / 2e-5
    np.testing.assert_allclose(second + 0.3 * np.eye(5), numeric, atol=1e-5)
