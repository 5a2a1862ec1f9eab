"""Gap relaxation against the literal algorithm, by hand and by schedule; and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.policies.test_club_cascade import Twin, edges_of
from tests.reference.problems import busy_problem, examples, play, problems

SCHEDULES = st.lists(
    st.tuples(st.integers(1, 30), st.floats(0.0, 1.0)), max_size=4, unique_by=lambda step: step[0]
).map(
    lambda steps: list(
        zip(
            sorted(step[0] for step in steps),
            sorted((step[1] for step in steps), reverse=True),
            strict=True,
        )
    )
)


@examples(150)
@given(problems(), SCHEDULES, st.sampled_from([1.0, 2.0, math.inf]))
def test_a_schedule_agrees_with_the_algorithm(problem, schedule, alpha):
    Twin(problem, alpha=alpha, beta=0.5, reg=0.5, schedule=schedule).play(problem)


@examples(50)
@given(st.integers(0, 2**32 - 1), st.none() | st.floats(0.1, 0.6), st.booleans())
def test_relaxing_by_hand_agrees_with_the_algorithm_in_busy_stories(seed, p, reload):
    """Alpha falls in five steps, on the way through saved and loaded policies."""
    problem = busy_problem(seed)
    start = "complete" if p is None else "random"
    twin = Twin(
        problem, alpha=2.0, beta=0.5, reg=0.3, start=start, p=p, schedule=[(25, 0.9), (45, 0.25)]
    )
    steps = iter(range(1, 10**6))

    def after(step):
        if twin.after(step) is False:
            return False
        number = next(steps)
        if number % 12 == 0:
            alpha = twin.policy.alpha * 0.7
            twin.policy.relax(alpha=alpha)
            twin.reference.relax(alpha)
        assert twin.policy.alpha == twin.reference.alpha
        if reload and number % 5 == 0:
            loaded = twin.policy.fresh()
            loaded.load_state(twin.policy.state())
            twin.policy = loaded
            twin.compare_all()
        return True

    for step in problem.rounds:  # one at a time: the policy may be another one afterwards
        play(replace(problem, rounds=[step]), twin.policy, twin.bounds, twin.update, after)
        if twin.reference.margin < 1e-9:
            return


@pytest.mark.compiled  # long
def test_the_stories_need_the_smaller_alpha():
    """With alpha as it was at the start, most busy stories would cut fewer edges."""
    differ = 0
    for seed in range(12):
        runs = []
        for schedule in (None, [(20, 0.4)]):
            problem = busy_problem(seed)
            twin = Twin(problem, alpha=1.5, beta=0.5, reg=0.3, schedule=schedule)
            twin.play(problem)
            runs.append(edges_of(twin.policy))
        assert runs[1] <= runs[0]
        differ += runs[1] < runs[0]
    assert differ >= 6


def test_nothing_is_deleted_until_a_user_is_served():
    policy = cc.AlphaSchedule(cc.ClubCascade(n_features=1, users="abc", alpha=2.0, reg=0.1))
    for _ in range(5):
        policy.update("a", [[1.0]], 0)
        policy.update("b", [[1.0]], None)
    whole = edges_of(policy)
    policy.relax(alpha=0.1)
    assert edges_of(policy) == whole
    policy.update("c", [[1.0]], None)
    assert edges_of(policy) == {frozenset("ab"), frozenset("bc")}  # a - b was not looked at
    policy.update("b", [[1.0]], None)
    assert edges_of(policy) == {frozenset("bc")}


def test_alpha_is_saved_and_given_back(tmp_path):
    club = cc.ClubCascade(n_features=1, users="ab", alpha=2.0)
    policy = cc.AlphaSchedule(club, steps=[(2, 1.0)])
    for _ in range(2):
        policy.update("a", [[1.0]], 0)
    assert policy.alpha == 1.0
    policy.relax(alpha=0.5)
    policy.save(tmp_path / "model.cc")
    loaded = cc.load(tmp_path / "model.cc")
    assert loaded.alpha == 0.5
    assert loaded.fresh().alpha == policy.fresh().alpha == 2.0
    assert loaded.params == policy.params


def test_a_run_follows_the_schedule():
    env = cc.environments.Synthetic(
        n_users=12, n_clusters=2, n_items=30, n_features=4, seed=3, items="fresh"
    )
    policy = cc.AlphaSchedule(cc.ClubCascade(n_features=4, alpha=math.inf), steps=[(400, 0.6)])
    trace = cc.simulate(policy, env, rounds=800, k=3, seed=1)
    assert (trace.n_clusters[:400] == 1).all()
    assert trace.n_clusters[-1] > 1
    assert policy.alpha == 0.6


@pytest.mark.parametrize("alpha", [2.5, -0.1, math.nan, "1", None])
def test_bad_constants_change_nothing(alpha):
    policy = cc.AlphaSchedule(cc.ClubCascade(n_features=1, alpha=2.0))
    with pytest.raises(cc.errors.InvalidArgument, match="alpha must be"):
        policy.relax(alpha=alpha)
    assert policy.alpha == 2.0


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (5, "steps must be pairs"),
        ("often", "steps must be pairs"),
        ([3], "got 3 among them"),
        ([(1, 2, 3)], "among them"),
        ([(0, 1.0)], "updates of steps must be a whole number >= 1"),
        ([(1.5, 1.0)], "updates of steps"),
        ([(5, -1.0)], "alpha of steps"),
        ([(5, math.nan)], "alpha of steps"),
        ([(5, 1.0), (5, 0.5)], "rising numbers of updates"),
        ([(5, 1.0), (9, 1.5)], "only falls"),
        ([(5, 3.0)], "only falls, from 2 at the start"),
    ],
)
def test_bad_schedules(schedule, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.AlphaSchedule(cc.ClubCascade(n_features=1, alpha=2.0), steps=schedule)


def test_a_policy_with_a_link_relaxes_and_asks_too(tmp_path):
    club = cc.ClubCascadeGLM(n_features=1, users="abc", alpha=20.0, reg=1.0)
    policy = cc.AlphaSchedule(cc.UserSelection(club, rounds=100))
    for _ in range(8):
        policy.update("a", [[1.0]], 0)
        policy.update("b", [[1.0]], None)
    assert len(policy.clusters()) == 1
    assert policy.choose_user("abc") == "c"
    policy.relax(alpha=1.0)
    policy.save(tmp_path / "model.cc")
    loaded = cc.load(tmp_path / "model.cc")
    assert loaded.alpha == 1.0
    for one in (policy, loaded):
        one.update("a", [[1.0]], 0)
        assert edges_of(one) == {frozenset("bc")}
