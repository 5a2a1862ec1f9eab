"""Interleaving: fair lists, credit for what only one shows, a screen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import InterleavingScreen, exclusive_credit, team_draft

RANKINGS = st.tuples(st.permutations(range(8)), st.permutations(range(8)), st.integers(1, 8))


@given(RANKINGS, st.integers(0, 1000))
def test_a_list_is_drafted_from_both(rankings, seed):
    a, b, k = rankings[0][: rankings[2]], rankings[1][: rankings[2]], rankings[2]
    shown = team_draft(a, b, np.random.default_rng(seed)).tolist()
    assert len(set(shown)) == k
    assert set(shown) <= set(a) | set(b)
    assert shown[0] in (a[0], b[0])
    only_a, only_b = set(a) - set(b), set(b) - set(a)
    picked = len(only_a & set(shown)), len(only_b & set(shown))
    assert max(picked) <= (k + 1) // 2
    assert exclusive_credit(shown, a, b, range(k)) == picked


def test_both_go_first_equally_often():
    rng = np.random.default_rng(1)
    first = [team_draft([0, 1], [2, 3], rng)[0] == 0 for _ in range(2000)]
    assert np.mean(first) == pytest.approx(0.5, abs=0.04)


def test_clicks_on_what_both_show_count_for_nobody():
    assert exclusive_credit([1, 2, 3], [1, 2], [1, 3], clicks=[0]) == (0, 0)
    assert exclusive_credit([1, 2, 3], [1, 2], [1, 3], clicks=[1]) == (1, 0)
    assert exclusive_credit([1, 2, 3], [1, 2], [1, 3], clicks=[]) == (0, 0)


def test_rankings_must_fit():
    for a, b in [([1, 2], [1]), ([1, 1], [2, 3])]:
        with pytest.raises(InvalidArgument, match="a and b must be rankings of one length"):
            team_draft(a, b, np.random.default_rng(0))


def test_the_screen_is_called_one_and_never_a_verdict():
    screen = InterleavingScreen()
    assert screen.share == (0.0, 1.0)
    for user in range(1000):
        screen.add(user % 300, int(user % 3 == 0), int(user % 3 != 0))
    low, high = screen.share
    assert 0.5 < low < 2 / 3 < high
    assert str(screen).startswith("screen: B gets between")
    assert str(screen).endswith("worth an A/B test by user")
    assert "stop" not in str(screen)


def test_the_screen_goes_on_when_it_cannot_see():
    screen = InterleavingScreen()
    for user in range(400):
        screen.add(user, user % 2, 1 - user % 2)
    assert str(screen).endswith("go on")
    with pytest.raises(InvalidArgument, match="credit_b must be"):
        screen.add("alice", 0, -1)
    assert screen.lists == 400


def test_false_alarms_of_the_screen_are_rare():
    rng, alarms = np.random.default_rng(8), 0
    for _ in range(60):
        screen, taste = (
            InterleavingScreen(),
            rng.beta(2, 2, 150),
        )  # users who prefer one or the other
        wrong = False
        for n, user in enumerate(rng.integers(0, 150, 1500).tolist()):
            b = int(rng.random() < taste[user])
            screen.add(user, 1 - b, b)
            wrong |= n % 100 == 99 and not screen.share[0] <= 0.5 <= screen.share[1]
        alarms += wrong
    assert alarms <= 3


def test_users_of_one_mind_are_not_all_users():
    screen = InterleavingScreen()
    for user in range(100):
        screen.add(user, 0, 1)
    low, high = screen.share
    assert 0.9 < low < 1 and high == 1
