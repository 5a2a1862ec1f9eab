"""A/B by user: few false alarms however often one looks, and the sentence."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import ABTest
from clubcascade.evaluation.clusters import (
    LEAST_USERS,
    UserSums,
    effective,
    moments_of,
    needed_variance,
    reach,
    variance,
)
from tests.reference.evaluation import clustered_ratio, mixture

LISTS = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.integers(0, 3), st.integers(1, 3)), min_size=1
)


@given(LISTS)
def test_sums_are_those_of_the_literal_version(lists):
    sums = UserSums()
    for user, y, x in lists:
        sums.add(user, y, x)
    if sums.users < 2:
        assert sums.variance == math.inf
        return
    ratio, spread = clustered_ratio(lists)
    assert sums.ratio == pytest.approx(ratio)
    assert sums.variance == pytest.approx(spread, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize("spread", [0.1, 0.01, 0.0003])
def test_the_boundary_is_where_the_mixture_reaches_one_over_alpha(alpha, spread):
    # the precision of the mixture follows from the boundary being least where it reaches 0.1
    near = [needed_variance(alpha, 0.1) * f for f in (0.999, 1.0, 1.001)]
    assert reach(near[1], alpha, 0.1) * math.sqrt(near[1]) == pytest.approx(0.1)
    g = 1.0 / (reach(1e12, alpha, 0.1) ** 2 / math.log(1 / alpha**2) - 1) * 1e12  # (1 + rho v)
    precision = 1 / g
    score = float(reach(spread, alpha, 0.1)) / math.sqrt(spread)
    assert mixture(score, 1 / spread, precision) == pytest.approx(1 / alpha, rel=1e-3)


def aa_runs(runs, users, looks, seed):
    """Yield moments and numbers of users per look and arm, of arms that are alike."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        rate = rng.beta(0.8, 2.0, users)  # users who differ
        active = rng.pareto(2.5, users) + 0.2  # and come more or less often
        who = rng.choice(users, 40 * users, p=active / active.sum())
        click = rng.random(who.size) < rate[who]
        arm = rng.random(users) < 0.5
        found = []
        for end in np.linspace(0, who.size, looks + 1).astype(int)[1:]:
            y = np.bincount(who[:end], click[:end], users)
            x = np.bincount(who[:end], minlength=users).astype(float)
            of = np.stack(moments_of(y, x), -1)
            found.append([(of[a].sum(0), int((x[a] > 0).sum())) for a in (arm, ~arm)])
        yield found


def test_false_alarms_by_user_are_rare_and_per_list_they_are_not():
    by_user = per_list = 0
    for looks in aa_runs(runs=500, users=400, looks=20, seed=5):
        moments = np.array([[m for m, _ in look] for look in looks])
        users = np.array([[n for _, n in look] for look in looks])
        rates = moments[..., 0] / moments[..., 1]
        apart = np.abs(rates[:, 0] - rates[:, 1])
        pooled = moments[..., 0].sum(1) / moments[..., 1].sum(1)
        enough = effective(moments).min(1) >= LEAST_USERS
        spread = variance(moments, users).sum(1)
        per = (rates * (1 - rates) / moments[..., 1]).sum(1)
        for name, s in (("user", spread), ("list", per)):
            alarm = (apart > reach(s / pooled**2, 0.05, 0.05) * np.sqrt(s)) & (
                enough | (name == "list")
            )
            by_user += name == "user" and alarm.any()
            per_list += name == "list" and alarm.any()
    assert by_user <= 25  # 5% of 500
    assert per_list >= 150


def filled(rate_new, users=3000, lists=4, seed=0):
    rng = np.random.default_rng(seed)
    test = ABTest(["now", "new"])
    for user in range(users):
        arm = "new" if user % 2 else "now"
        p = rng.beta(8, 8) * (rate_new / 0.5 if user % 2 else 1)
        test.add(arm, user, int(rng.binomial(lists, min(p, 1.0))), lists)
    return test


def test_a_difference_is_found_and_said():
    verdict = filled(0.6).verdict()
    assert verdict.decision == "better"
    assert verdict.relative[0] < 0.2 < verdict.relative[1]
    assert verdict.difference[0] < 0.1 < verdict.difference[1]
    assert str(verdict).startswith("new gets between ")
    assert str(verdict).endswith("% more clicks than now; you can stop")
    assert (verdict.lists, verdict.users) == (12_000, 3000)


def test_worse_is_said_as_fewer():
    assert filled(0.4).verdict().decision == "worse"
    assert "% fewer clicks than now; you can stop" in str(filled(0.4).verdict())


def test_a_small_difference_is_not_said_to_be_none():
    verdict = replace(filled(0.6).verdict(), relative=(0.004, 0.31))
    assert str(verdict) == "new gets between 0.40% and 31% more clicks than now; you can stop"
    verdict = replace(verdict, relative=(-0.2, -0.00001))
    assert str(verdict) == "new gets between 0.01% and 20% fewer clicks than now; you can stop"


def test_it_goes_on_and_says_how_long():
    verdict = filled(0.5, users=1200).verdict()
    assert verdict.decision is None
    assert f"5% would show after about {verdict.more_lists:,.0f} lists more" in str(verdict)
    total = verdict.lists + verdict.more_lists
    twice = filled(0.5, users=2400, seed=3).verdict()
    assert str(filled(0.505, users=6000).verdict()).endswith("go on: 5% would have shown")
    assert twice.lists + twice.more_lists == pytest.approx(total, rel=0.2)  # it does not move


def test_arms_that_are_alike_are_said_to_be():
    test = ABTest(["now", "new"], difference=0.5)
    for user in range(4000):
        test.add("new" if user % 2 else "now", user, (user // 2) % 2)
    assert str(test.verdict()) == "new and now differ by less than 50%; you can stop"


def test_too_few_effective_users_are_no_verdict():
    test = ABTest(["now", "new"])
    for user in range(2 * LEAST_USERS - 2):
        test.add("new" if user % 2 else "now", user, 1 + user % 5 % 2, 4)
    assert str(test.verdict()) == "too few users or clicks to compare new with now; go on"
    for user in range(2 * LEAST_USERS, 2 * LEAST_USERS + 2):
        test.add("new" if user % 2 else "now", user, 1, 4)
    assert test.verdict().difference[0] > -math.inf
    test.add("new", "all the time", 5_000, 10_000)  # one user has most of the lists
    assert test.verdict().difference == (-math.inf, math.inf)


def test_too_few_clicks_are_no_verdict():
    test = ABTest(["now", "new"])
    for user in range(2000):
        test.add("new" if user % 2 else "now", user, user % 2 or user < 98)
    assert test.verdict().decision is None
    test.add("now", 98.5, 1)
    assert test.verdict().decision == "better"


@given(st.integers(0, 2**31), st.floats(0.1, 0.9), st.floats(0.1, 0.9))
def test_both_intervals_agree_about_zero(seed, p, q):
    rng = np.random.default_rng(seed)
    test = ABTest(["a", "b"])
    for user in range(400):
        test.add("ab"[user % 2], user, int(rng.random() < (p, q)[user % 2]))
    verdict = test.verdict()
    (low, high), (less, more) = verdict.difference, verdict.relative
    assert (low > 0) == (less > 0)
    assert (high < 0) == (more < 0)
    assert (verdict.decision in ("better", "worse")) == (low > 0 or high < 0)


def test_more_arms_share_alpha():
    three, two = ABTest(["a", "b", "c"]), ABTest(["a", "b"])
    for user in range(600):
        three.add("abc"[user % 3], user, user % 7 < 3)
        if user % 3 < 2:
            two.add("abc"[user % 3], user, user % 7 < 3)
    wide, narrow = three.verdict("b").difference, two.verdict("b").difference
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ABTest(["a"]), "arms must be two or more"),
        (lambda: ABTest("ab"), "arms must be two or more"),
        (lambda: ABTest(["a", "b"], alpha=0.0), "alpha must be"),
        (lambda: ABTest(["a", "b"]).add("c", 1, 1), "arm must be one of 'a', 'b', got 'c'"),
        (lambda: ABTest(["a", "b"]).add("a", 1, -1), "clicks must be"),
        (lambda: ABTest(["a", "b"]).add("a", 1, 1, 0), "lists must be"),
        (lambda: ABTest(["a", "b"]).verdict("a"), "arm must be one of 'b', got 'a'"),
    ],
)
def test_wrong_arguments_are_named(call, said):
    with pytest.raises(InvalidArgument, match=said):
        call()


def test_a_user_stays_in_its_arm():
    test = ABTest(["a", "b"])
    test.add("a", 7, 1)
    with pytest.raises(InvalidArgument, match="user must stay in arm 'a', got 7 in 'b'"):
        test.add("b", 7, 1)
    assert test.arms["b"].users == 0


def test_nothing_but_clicks_says_nothing():
    """Lists that nobody answered may be on their way."""
    test = ABTest(["now", "new"])
    for user in range(4_000):
        test.add(["now", "new"][user % 2], user, 1)
    verdict = test.verdict()
    assert (verdict.decision, verdict.difference) == (None, (-math.inf, math.inf))
    assert str(verdict) == "new and now: no list without a click counts yet; go on"
