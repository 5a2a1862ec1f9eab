"""No accepted parameter and no accepted update makes a state other than finite."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.errors import InvalidArgument
from clubcascade.policies import POLICIES

D = 5
NUMBERS = st.one_of(
    st.sampled_from([5e-324, 1e-300, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12, 1e300]),
    st.floats(min_value=0, allow_nan=False),
)
FACTORS = ("reg", "sigma", "beta", "c", "explore", "noise", "delta", "alpha", "penalty")
KINDS = sorted(name for name, kind in POLICIES.items() if hasattr(kind, "update"))


def finite(policy):
    for name, value in policy.state().items():
        chosen = policy.params.get(name)  # alpha may be infinite
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and chosen != np.inf:
            assert np.isfinite(value).all(), name


def made(kind, params):
    """Return a policy with those of the parameters that it has and accepts, None if it refuses."""
    example = next(kind.examples()).params
    own = {name: value for name, value in params.items() if name in example}
    if "n_features" in example:
        own["n_features"] = D
    if "policy" in example:
        own["policy"] = example["policy"] | {"n_features": D}
    try:
        return kind(**example | own)
    except InvalidArgument:
        return None


@st.composite
def lessons(draw):
    """Items that are nearly one: a direction, and what each differs by."""
    direction = np.array(draw(st.lists(st.floats(-1, 1), min_size=D, max_size=D)))
    direction /= max(1.0, np.linalg.norm(direction))
    apart = draw(st.sampled_from([0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3]))
    scale = draw(st.sampled_from([0.9, 1e-3, 1e-8, 1e-160, 1e-310]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return scale * (direction + apart * rng.uniform(-1, 1, (6, D))) / 1.1


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(params=st.dictionaries(st.sampled_from(FACTORS), NUMBERS), items=lessons(), data=st.data())
def test_states_stay_finite(name, params, items, data):
    policy = made(POLICIES[name], params)
    if policy is None:
        return
    catalog = cc.Catalog(items)
    clicks = data.draw(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=4, max_size=40))
    users = [turn % 3 for turn in range(len(clicks))]
    for user, click in zip(users, clicks, strict=True):
        assert len(set(policy.recommend(user, catalog, 3).tolist())) == 3
        policy.update(user, catalog[[user, 3, 4]], click)
    finite(policy)
    if hasattr(policy, "update_many"):
        rows = np.tile([5, 1, 2], (len(users), 1))
        policy.update_many(users, catalog[rows], clicks)
        finite(policy)
    other = policy.fresh()
    other.load_state(policy.state())


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (cc.CascadeLinTS, {"sigma": 1e-300}),
        (cc.CascadeLinUCB, {"sigma": 1e300}),
        (cc.CohortCascade, {"reg": 1e-12}),
        (cc.CohortCascade, {"explore": 1e300}),
        (cc.ClubCascade, {"reg": 1e-300}),
        (cc.C3UCB, {"beta": 1e308}),
    ],
)
def test_parameters_that_arithmetic_does_not_survive_are_refused(kind, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(InvalidArgument, match=rf"{name} must be a number in \["):
        kind(n_features=2, **{name: value})


@pytest.mark.parametrize(
    "policy",
    [
        cc.CohortCascade(n_features=4, reg=1e-6),
        cc.CascadeLinTS(n_features=4, sigma=1e-3),
        cc.ClubCascade(n_features=4, reg=1e-6),
        cc.MultipleLinUCB(n_features=4, reg=1e-6),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_compiled_runs_stay_finite(policy):
    """Items on one line, for as many rounds as inverses are renewed in; learned many at a time."""
    items = np.full((8, 4), 0.499)
    items[:, 0] -= np.linspace(0, 1e-7, 8)
    catalog = cc.Catalog(items)
    rng = np.random.default_rng(1)
    n = 3_000
    rows = np.argsort(rng.random((n, 8)), axis=1)[:, :4]
    clicks = [None if click == 4 else int(click) for click in rng.integers(0, 5, n)]
    policy.update_many(rng.integers(0, 6, n).tolist(), catalog[rows], clicks)
    finite(policy)
    env = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=30, n_features=4, seed=1)
    trace = cc.simulate(policy, env, rounds=2_000, k=4, seed=1)
    finite(policy)
    assert np.isfinite(trace.regret).all()
