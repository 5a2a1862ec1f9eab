from __future__ import annotations

import numpy as np

from benchmarks.engine.clock import SEED, K
from benchmarks.engine.draws import after, drive, literal_of, points, stretches
from benchmarks.engine.worlds import paper_policy, paper_world
from clubcascade.simulation import simulate


def test_python_calls_meet_the_draws_of_the_compiled_run():
    env = paper_world(6, 30)
    whole = simulate(paper_policy(6), env, 80, K, SEED).regret
    policy = after(paper_policy(6), env, 50)
    stretch = drive(policy, env, 50, 30, loose=False)
    np.testing.assert_allclose(np.cumsum(stretch.regret) + whole[49], whole[50:])
    assert stretch.seconds > 0


def test_fresh_items_too():
    env = paper_world(6, 30, fresh=True)
    whole = simulate(paper_policy(6), env, 40, K, SEED).regret
    stretch = drive(after(paper_policy(6), env, 30), env, 30, 10, loose=True)
    np.testing.assert_allclose(np.cumsum(stretch.regret) + whole[29], whole[30:])


def test_the_literal_version_takes_over_the_state():
    env = paper_world(6, 30)
    policy = after(paper_policy(6, alpha=0.4), env, 120)
    literal = literal_of(policy)
    assert 1 < policy._learner.graph.n_components
    assert len(set(literal.labels().tolist())) == policy._learner.graph.n_components
    for user in range(6):
        gram, moment, count = policy.statistics(user)
        np.testing.assert_array_equal(literal.gram[user], gram)
        np.testing.assert_array_equal(literal.moment[user], moment)
        assert literal.count[user] == count
        np.testing.assert_allclose(literal.weights[user], policy.user_weights(user), atol=1e-10)
    items = np.array(env.catalog.features)
    for user in range(6):
        ours, theirs = policy.recommend(user, items, K), literal.recommend(user, items, K)
        scores = policy.scores(user, items)
        np.testing.assert_allclose(scores[ours], scores[theirs], atol=1e-9)


def test_stretches_lie_in_the_run():
    assert points(100, 100) == (0,)
    env = paper_world(5, 20)
    played = stretches(paper_policy(5), env, points(40, 10), 10, literal=True)
    assert [len(stretch.regret) for stretch in played] == [10, 10, 10]
