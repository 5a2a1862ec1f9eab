"""Links: the known ones against SciPy, own ones by their table, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtr

from clubcascade.errors import InvalidArgument, UnknownName
from clubcascade.links import Link, read_link
from tests.reference.problems import examples

POINTS = np.linspace(-40.0, 40.0, 4001)


def normal_density(z):
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def cauchy():
    return Link(lambda z: 0.5 + math.atan(z) / math.pi, lambda z: 1 / (math.pi * (1 + z * z)))


def test_known_links_are_scipys():
    logistic, probit, identity = (read_link(name) for name in ("logistic", "probit", "identity"))
    np.testing.assert_allclose(logistic.mu(POINTS), expit(POINTS), rtol=1e-14)
    np.testing.assert_allclose(
        logistic.mu_prime(POINTS), expit(POINTS) * expit(-POINTS), rtol=1e-14
    )
    np.testing.assert_allclose(probit.mu(POINTS), ndtr(POINTS), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(probit.mu_prime(POINTS), normal_density(POINTS), rtol=1e-12)
    assert np.array_equal(identity.mu(POINTS), POINTS)
    assert np.array_equal(identity.mu_prime(POINTS), np.ones_like(POINTS))


def test_probabilities_of_a_trillionth_keep_their_precision():
    z = math.log(1e-12)
    assert float(read_link("logistic").mu(z)) == pytest.approx(1e-12, rel=1e-11)
    assert float(read_link("logistic").mu(-1000.0)) == 0.0
    assert float(read_link("probit").mu(-7.0)) == pytest.approx(ndtr(-7.0), rel=1e-12)


def test_constants_of_the_theorem():
    logistic, probit = read_link("logistic"), read_link("probit")
    assert logistic.slope == pytest.approx(expit(2) * expit(-2))
    assert logistic.lipschitz == 0.25
    assert probit.slope == pytest.approx(normal_density(2.0))
    assert probit.lipschitz == pytest.approx(normal_density(0.0))
    assert (read_link("identity").slope, read_link("identity").lipschitz) == (1.0, 1.0)


@examples(60)
@given(st.floats(-60.0, 60.0))
def test_a_table_is_near_its_link_and_goes_on_as_a_line(z):
    table = Link(expit, lambda z: expit(z) * expit(-z))
    inside = min(max(z, -32.0), 32.0)
    slope = float(expit(inside) * expit(-inside))
    expected = float(expit(inside)) + (z - inside) * slope
    assert float(table.mu(z)) == pytest.approx(expected, abs=1e-10)
    assert float(table.mu_prime(z)) == pytest.approx(slope, abs=1e-8)
    step = 1e-6
    rise = float(table.mu(z + step) - table.mu(z - step)) / (2 * step)
    assert float(table.mu_prime(z)) == pytest.approx(rise, abs=1e-7)


def test_an_own_link_comes_back_from_plain_values():
    link = cauchy()
    other = read_link(link.saved())
    assert np.array_equal(other.mu(POINTS), link.mu(POINTS))
    assert (other.slope, other.lipschitz, other.name) == (link.slope, link.lipschitz, "own")
    assert read_link(link) is link
    assert read_link("probit").saved() == "probit"


def test_the_largest_slope_may_be_given():
    link = Link(math.exp, math.exp, name="poisson", lipschitz=math.e**2)
    assert link.lipschitz == math.e**2
    assert link.slope == pytest.approx(math.exp(-2))
    for wrong in (0.01, 1.0, math.nan, math.inf, "1"):  # its slope is above 1 within [-2, 2]
        with pytest.raises(InvalidArgument, match="lipschitz must be a number in"):
            Link(math.exp, math.exp, lipschitz=wrong)


@pytest.mark.parametrize(
    ("mu", "mu_prime", "message"),
    [
        (lambda z: -z, lambda z: -1.0, r"strictly increasing, got mu_prime\(-2\) = -1"),
        (lambda z: 0.5, lambda z: 0.0, r"strictly increasing, got mu_prime\(-2\) = 0"),
        (lambda z: z * z, lambda z: 2 * z, r"strictly increasing, got mu_prime\(-2\) = -4"),
        (math.sin, lambda z: 1.0, "strictly increasing, got mu"),
        (lambda z: max(z, 0.0), lambda z: float(z > 0), r"got mu_prime\(-2\) = 0"),
        (lambda z: z, lambda z: 2.0, "mu_prime must be the derivative of mu"),
        (lambda z: z + (z > 1), lambda z: 1.0, "mu_prime must be the derivative of mu"),
        (lambda z: math.log(z), lambda z: 1 / z, "mu must give a number at every z"),
        (lambda z: math.nan, lambda z: 1.0, "mu must be finite, got mu"),
        (lambda z: z, lambda z: math.inf, "mu_prime must be finite, got mu_prime"),
        (lambda z: "a", lambda z: 1.0, "mu must give a number"),
        (lambda z: {}[z], lambda z: 1.0, r"mu must give a number at every z.*KeyError"),
        (lambda z: z.real.size, lambda z: 1.0, "mu must give a number at every z"),
        (3.0, lambda z: 1.0, "mu must be a function of one number, got 3.0"),
        (lambda z: z, None, "mu_prime must be a function of one number, got None"),
    ],
)
def test_wrong_links_are_refused(mu, mu_prime, message):
    with pytest.raises(InvalidArgument, match=message):
        Link(mu, mu_prime)


def test_wrong_names_are_refused():
    with pytest.raises(UnknownName, match="unknown link 'probi'; did you mean 'probit'"):
        read_link("probi")
    for wrong in (3, None, {"table": [1]}):
        with pytest.raises(InvalidArgument, match="link must be one of"):
            read_link(wrong)
    with pytest.raises(InvalidArgument, match="name must be a string, got 5"):
        Link(math.exp, math.exp, name=5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"table": [[1.0]]},
            r"table of the link must be 2 x 4097 finite numbers, got shape \(1, 1",
        ),
        ({"table": "abc"}, "table of the link must be 2 x 4097"),
        ({"table": np.full((2, 4097), np.nan)}, "table of the link must be 2 x 4097"),
        ({"table": np.zeros((2, 4097))}, "mu must be strictly increasing"),
        ({"lipschitz": math.nan}, "lipschitz must be a number"),
        ({"lipschitz": 0.1}, "lipschitz must be a number"),
        ({"name": None}, "name must be a string"),
    ],
)
def test_saved_links_are_read_as_carefully_as_new_ones(changes, message):
    with pytest.raises(InvalidArgument, match=message):
        read_link(cauchy().saved() | changes)


@pytest.mark.parametrize("z", [math.nan, [0.0, math.inf], "a", None, [[1.0], [1.0, 2.0]], 1j])
def test_what_is_no_finite_number_has_no_mean(z):
    for link in (read_link("logistic"), cauchy()):
        for answer in (link.mu, link.mu_prime):
            with pytest.raises(InvalidArgument, match="z must be"):
                answer(z)
