"""Regret by the number of the user's own list, phase by phase, against a literal count."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.environments import Changes, Matrix
from clubcascade.kernels import counter_rng
from tests.simulation.worlds import Foreign

GROUPS = [range(1, 2), range(2, 6), range(6, 21), range(21, 101), range(101, 10**9)]
AT, ROUNDS, K = (150, 700), 1500, 2


class Spy(Foreign):
    """Keep the lists and the feedback of every round."""

    def __init__(self, inner):
        super().__init__(inner)
        self.seen = []

    def recommend(self, user, items, k):
        self.rows = super().recommend(user, items, k)
        return self.rows

    def update(self, user, shown, click):
        self.seen.append((user, self.rows, click))
        super().update(user, shown, click)


def changing():
    tables = np.random.default_rng(3).random((3, 7, 12)) / 2
    return tables, Matrix(tables, np.eye(12), changes=Changes(at=AT, users="join"))


def test_a_changing_world_is_the_literal_story():
    tables, env = changing()
    spy = Spy(cc.MultipleLinUCB(n_features=12))
    trace = cc.simulate(spy, env, rounds=ROUNDS, k=K, seed=8)
    compiled = cc.simulate(cc.MultipleLinUCB(n_features=12), env, rounds=ROUNDS, k=K, seed=8)
    np.testing.assert_array_equal(compiled.reward, trace.reward)
    visits, total, clicked = dict.fromkeys(range(7), 0), 0.0, 0
    regret, rounds = np.zeros((3, 5)), np.zeros((3, 5), int)
    for t, (user, rows, feedback) in enumerate(spy.seen):
        phase = sum(t >= start for start in AT)
        there = [user for user in range(7) if user % 3 <= phase]
        assert user == there[int(counter_rng.uniform(env.keys[0], t, 0) * len(there))]
        likes = tables[phase][user]
        clicks = [
            p for p in range(K) if counter_rng.uniform(env.keys[2], t, rows[p]) < likes[rows[p]]
        ]
        assert feedback.clicks == tuple(clicks[:1])
        best = 1 - np.prod(1 - np.sort(likes)[-K:])
        loss = best - (1 - np.prod(1 - likes[rows]))
        total, clicked = total + loss, clicked + bool(clicks)
        assert compiled.regret[t] == pytest.approx(total) and compiled.reward[t] == clicked
        visits[user] += 1
        (group,) = [g for g, numbers in enumerate(GROUPS) if visits[user] in numbers]
        regret[phase, group] += loss
        rounds[phase, group] += 1
    assert (rounds[:, -1] > 0).any() and (
        rounds[1:, 0] == 2
    ).all()  # whoever joins has a first list
    for each in (trace, compiled):
        np.testing.assert_array_equal(each.visit_rounds, rounds)
        np.testing.assert_allclose(each.visit_regret, regret, atol=1e-9)


@pytest.mark.parametrize("items", ["fixed", "fresh"])
def test_the_sums_are_all_of_the_regret(items):
    env = cc.environments.Synthetic(
        n_users=5, n_clusters=2, n_items=20, n_features=4, items=items, seed=1
    )
    trace = cc.simulate(cc.C3UCB(n_features=4), env, rounds=800, k=2, seed=1)
    assert trace.visit_regret.shape == (1, 5)
    assert trace.visit_rounds.tolist()[0][:4] == [5, 20, 75, 400]
    assert trace.visit_regret.sum() == pytest.approx(trace.regret[-1])


def test_users_of_another_environment_are_counted_by_name():
    class Named:
        """Two users with names, and a regret that nobody knows."""

        n_users, n_features = 2, 3

        def __init__(self, known):
            self.known = known

        def reset(self, seed):
            self.t = -1

        def next_user(self):
            self.t += 1
            return "alice" if self.t % 3 else "bob", np.eye(3)

        def respond(self, user, ranking):
            return cc.Feedback(examined=2, clicks=())

        def regret(self, user, ranking):
            return 0.5 if self.known else None

    trace = cc.simulate(cc.C3UCB(n_features=3), Named(True), rounds=9, k=2, seed=1)
    assert trace.visit_rounds.tolist() == [[2, 6, 1, 0, 0]]
    assert trace.visit_regret.tolist() == [[1.0, 3.0, 0.5, 0.0, 0.0]]
    assert cc.simulate(cc.C3UCB(n_features=3), Named(False), 9, 2, 1).visit_regret is None
