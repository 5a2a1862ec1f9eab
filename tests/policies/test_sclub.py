"""SCLUB against its literal version, round by round; and its limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.problems import (
    Problem,
    Round,
    assert_near,
    busy_problem,
    examples,
    partition,
    play,
    problems,
    vectors,
)
from tests.reference.sclub import SCLUB

ALPHAS = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0, math.inf]) | st.floats(0.02, 1.5)
PARAMETERS = st.fixed_dictionaries(
    {
        "alpha_theta": ALPHAS,
        "alpha_p": ALPHAS,
        "beta": st.sampled_from([0.0, 0.1, 1.0]) | st.floats(0.0, 4.0),
        "reg": st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0),
    }
)
LENGTHS = st.sampled_from([None, 1, 4])


def with_lists_of(k, problem):
    """The same story with lists of ``k`` items; None leaves it as it is."""
    if k is None:
        return problem
    rounds = [
        replace(step, k=min(k, len(step.items)), override=None)
        if step.override is None
        else replace(step, k=min(k, len(step.items)), override=step.override[:k])
        for step in problem.rounds
    ]
    return replace(problem, rounds=rounds)


class Twin:
    """A policy and the literal algorithm, taken through the same story."""

    def __init__(self, problem, **parameters):
        self.policy = cc.SCLUB(n_features=problem.d, users=problem.early, **parameters)
        self.reference = SCLUB(problem.d, problem.early, **parameters)

    def bounds(self, step):
        return self.reference.bounds(step.user, step.items)

    def update(self, step, rows, ranking, examined, clicks):
        self.reference.update(step.user, rows, examined, clicks)

    def after(self, step):
        """Compare everything; stop where rounding may decide."""
        if self.reference.margin < 1e-9:
            return False
        self.compare()
        return True

    def compare(self):
        policy, reference = self.policy, self.reference
        clusters = partition(policy.clusters())
        assert clusters == reference.clusters()
        assert policy.compiled.n_clusters == len(clusters)
        for users in clusters:
            self.compare_sums(users)
        for user in reference.S:
            gram, moment, count = policy.statistics(user)
            assert_near(gram, reference.S[user], "gram")
            assert_near(moment, reference.b[user], "moment")
            assert count == reference.T[user]
            assert_near(policy.user_weights(user), reference.theta({user}), "user weights")

    def compare_sums(self, users):
        """A cluster has what its users have, and nothing of those who left."""
        models, g = self.policy._learner.model_of(None, self.policy.number(next(iter(users))))
        matrix, moment, count = self.reference.sums(users)
        reg = self.reference.reg * np.eye(len(moment))
        assert_near(models.arrays["gram"][g] + reg, matrix, "gram of a cluster")
        assert_near(models.arrays["moment"][g], moment, "moment of a cluster")
        assert models.arrays["count"][g] == count
        assert_near(models.arrays["weights"][g], self.reference.theta(users), "cluster weights")
        bounds, rounds = self.policy._learner._arrays, [self.reference.rounds[i] for i in users]
        assert bounds["fewest"][g] <= min(rounds) <= max(rounds) <= bounds["most"][g]

    def play(self, problem):
        play(problem, self.policy, self.bounds, self.update, self.after)


@examples(200)
@given(problems(), PARAMETERS, LENGTHS)
def test_agrees_with_the_literal_version(problem, parameters, k):
    Twin(problem, **parameters).play(with_lists_of(k, problem))


@examples(150)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1.2), st.floats(0.05, 1.0), LENGTHS)
def test_agrees_with_the_literal_version_in_busy_stories(seed, alpha_theta, alpha_p, k):
    problem = with_lists_of(k, busy_problem(seed))
    Twin(problem, alpha_theta=alpha_theta, alpha_p=alpha_p, beta=0.5, reg=0.3).play(problem)


def long_story(k, seed):
    """Two thousand rounds of three tastes; half of the users come three times as often."""
    rng = np.random.default_rng(seed)
    users = [f"user {i}" for i in range(12)]
    catalog = cc.Catalog(vectors(rng, 12, 4))
    tastes = rng.standard_normal((3, 4))
    rounds = []
    for t in range(2000):
        present = min(12, 6 + t // 50)
        often = np.where(np.arange(present) % 2 == 0, 3.0, 1.0)
        who = int(rng.choice(present, p=often / often.sum()))
        source = catalog if rng.random() < 0.8 else None
        items = vectors(rng, 12, 4) if source is None else source.features
        override = rng.permutation(12)[:k] if rng.random() < 0.7 else None
        rounds.append(Round(users[who], items, source, k, override, "taste", 0, tastes[who % 3]))
    return Problem(4, users, 6, [catalog], rounds, seed)


@pytest.mark.compiled  # long
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("alpha_p", [0.2, 0.5, math.inf])
def test_agrees_over_a_long_run(k, alpha_p):
    """Users are split off and clusters merge in many phases."""
    problem = long_story(k, seed=3)
    twin = Twin(problem, alpha_theta=1.4, alpha_p=alpha_p, beta=0.3, reg=1.0)
    policy, reference = twin.policy, twin.reference

    def after(step):
        assert reference.margin > 1e-9, "rounding might have decided: choose another seed"
        assert partition(policy.clusters()) == reference.clusters()
        if reference.tau % 50 == 0:
            twin.compare()

    play(problem, policy, twin.bounds, twin.update, after)
    assert min(reference.splits - 5, reference.merges - 2) >= 0
    assert 1 < len(reference.clusters()) < len(problem.users)


@examples(60)
@given(problems(), st.floats(0.0, 4.0), st.floats(0.05, 8.0))
def test_without_splits_it_is_one_shared_model(problem, beta, reg):
    none = {"alpha_theta": math.inf, "alpha_p": math.inf}
    policy = cc.SCLUB(n_features=problem.d, users=problem.early, beta=beta, reg=reg, **none)
    shared = cc.C3UCB(n_features=problem.d, beta=beta, reg=reg)
    for step in problem.rounds:
        chosen = policy.recommend(step.user, step.offered, step.k)
        for other in (policy, shared):
            other.update(step.user, step.shown(chosen), step.click(*step.look(chosen)))
        expected = shared.scores(step.user, step.offered)
        assert_near(policy.scores(step.user, step.offered), expected, "scores")
        assert len(policy.clusters()) == 1


@pytest.mark.parametrize("alpha_p", [0.2, math.inf])
def test_users_of_one_taste_part_by_their_frequencies(alpha_p):
    policy = cc.SCLUB(n_features=1, users="ab", alpha_theta=math.inf, alpha_p=alpha_p)
    for turn in range(60):
        policy.update("b" if turn % 20 == 0 else "a", [[1.0]], 0)
    assert len(policy.clusters()) == (1 if alpha_p == math.inf else 2)


def test_clusters_merge_when_time_makes_their_frequencies_close():
    """They are checked, nobody of them comes any more, and the threshold rises with time."""
    problem = Problem(1, list("abc"), 3, [], [], seed=0)
    twin = Twin(problem, alpha_theta=math.inf, alpha_p=0.3, beta=1.0, reg=1.0)
    found = []
    for user in "abc" + "a" * 14 + "c" * 240 + "ab" + "c" * 150:
        twin.policy.update(user, [[1.0]], 0)
        twin.reference.update(user, [[1.0]], 1, (0,))
        assert twin.reference.margin > 1e-9
        twin.compare()
        found.append(partition(twin.policy.clusters()))
    apart, together = [{"a"}, {"b"}, {"c"}], [{"a", "b"}, {"c"}]
    assert found[260] == partition(apart)
    assert found[-1] == partition(together)


def test_states_of_other_sizes_are_refused():
    policy = cc.SCLUB(n_features=1, users="ab", alpha_theta=0.1)
    policy.update("a", [[1.0]], 0)
    state = policy.state()
    for name, wrong in (("rounds", [1, 1]), ("label", [0, 5]), ("checked", [9, 0])):
        with pytest.raises(cc.errors.ModelFileError, match=name):
            policy.fresh().load_state(state | {name: np.array(wrong)})
