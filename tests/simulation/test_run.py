"""One algorithm, two ways to run it: compiled and through the public methods, equal to the bit."""

import os
import subprocess
import sys

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.kernels import counter_rng
from clubcascade.kernels.jit import INTERPRETED
from clubcascade.policies import POLICIES
from tests.reference import dcm
from tests.reference.club_cascade import ClubCascade as Literal
from tests.simulation.worlds import SIZES, WORLDS, Foreign


def cases():
    for name, kind in POLICIES.items():
        for number, policy in enumerate(kind.examples()):
            for world in WORLDS:
                if not hasattr(policy, "compiled") or (INTERPRETED and number > 0):
                    continue  # there is but one way to run it, or too little time
                if policy.n_features is not None or world != "fresh":
                    yield pytest.param(policy, world, id=f"{name}-{number}-{world}")


@pytest.mark.parametrize(("policy", "world"), list(cases()))
def test_compiled_run_equals_public_methods(policy, world):
    env = cc.environments.Synthetic(**SIZES, **WORLDS[world])
    fast, slow = policy.fresh(), policy.fresh()
    ours = cc.simulate(fast, env, rounds=300, k=4, seed=9)
    theirs = cc.simulate(Foreign(slow), env, rounds=300, k=4, seed=9)
    np.testing.assert_array_equal(ours.reward, theirs.reward)
    np.testing.assert_allclose(ours.regret, theirs.regret, rtol=1e-12)
    if not isinstance(policy, cc.KnownClusters):  # which knows users that never come
        np.testing.assert_array_equal(ours.n_clusters, theirs.n_clusters)
        np.testing.assert_array_equal(ours.rand_index, theirs.rand_index)
    assert same(fast.state(), slow.state())


def test_one_seed_gives_every_policy_the_same_arrivals_and_luck():
    env = cc.environments.Synthetic(**SIZES)

    class Spy(Foreign):
        def update(self, user, shown, click):
            seen.append((user, np.asarray(shown).tobytes(), click))
            super().update(user, shown, click)

    logs = []
    for policy in (cc.C3UCB(n_features=3), cc.MultipleLinUCB(n_features=3), cc.Random(seed=4)):
        seen = []
        cc.simulate(Spy(policy), env, rounds=200, k=40, seed=2)
        logs.append(seen)
    users = [[user for user, _, _ in log] for log in logs]
    assert users[0] == users[1] == users[2]
    # with every item shown, the set of liked items is the same whichever the order
    env.reset(2)
    for _ in range(50):
        user, catalog = env.next_user()
        liked = {row for row in range(40) if env.respond(user, np.array([row])).clicks}
        first = env.respond(user, np.arange(40))
        assert set(first.clicks) <= liked


def test_runs_are_the_same_in_another_process():
    program = """
import hashlib, clubcascade as cc
env = cc.environments.Synthetic(n_users=7, n_clusters=2, n_items=40, n_features=3, seed=5)
policy = cc.ClubCascade(n_features=3, alpha=0.5, start="random", edge_probability=0.5, seed=1)
trace = cc.simulate(policy, env, rounds=2000, k=4, seed=9)
digest = hashlib.sha256(trace.regret.tobytes() + trace.reward.tobytes())
for name, value in sorted(policy.state().items()):
    digest.update(value.tobytes() if hasattr(value, "tobytes") else repr(value).encode())
print(digest.hexdigest())
"""
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_oracle_has_no_regret():
    for world in WORLDS.values():
        env = cc.environments.Synthetic(**SIZES, **world)
        trace = cc.simulate(cc.environments.Oracle(env), env, rounds=200, k=3, seed=1)
        assert abs(trace.regret[-1]) < 1e-9


@pytest.mark.parametrize("stop", [[1.0], [0.8, 0.3], [0.0]])
def test_a_run_with_several_clicks_is_the_literal_story(stop):
    """Word for word: a user of the dependent click model and Algorithm 1, up to the last click."""
    env = cc.environments.Synthetic(**SIZES, click=cc.click.DCM(stop))
    policy = cc.ClubCascade(n_features=3, users=range(7), alpha=0.5, beta=0.5, reg=1.0)
    shadow = policy.fresh()  # ties are legal: it says which list is shown, the literal one judges
    reference = Literal(3, range(7), alpha=0.5, beta=0.5, reg=1.0)
    trace = cc.simulate(policy, env, rounds=400, k=4, seed=9)
    env.reset(9)
    rewards = several = 0
    for t in range(400):
        user, catalog = env.next_user()
        rows = shadow.recommend(user, catalog, 4)
        bounds = reference.bounds(user, catalog.features)
        np.testing.assert_allclose(bounds[rows], np.sort(bounds)[:-5:-1], atol=1e-9)
        chances = env.attraction[env.kind[user], rows]
        luck_of_items = [counter_rng.uniform(env.keys[2], t, row) for row in rows]
        ends = [counter_rng.uniform(env.keys[3], t, p) < dcm.at(stop, p) for p in range(4)]
        examined, clicks, _ = dcm.look(luck_of_items < chances, ends)
        reference.update(user, catalog.features[rows], examined, clicks)
        shadow.update(user, catalog[rows], cc.Feedback(examined, tuple(clicks)))
        rewards += bool(clicks)
        several += len(clicks) > 1
        assert reference.margin > 1e-9, "rounding might decide: choose another seed"
        assert trace.reward[t] == rewards
        assert trace.n_clusters[t] == len(reference.clusters())
        loss = trace.regret[t] - (trace.regret[t - 1] if t else 0.0)
        best = dcm.value(np.sort(env.attraction[env.kind[user]])[::-1][:4], stop)
        assert loss == pytest.approx(best - dcm.value(chances, stop), abs=1e-9)
    assert (several > 0) == (stop != [1.0])
    assert trace.n_clusters[0] == 1 and len(set(trace.n_clusters.tolist())) > 2
    for user in range(7):
        gram, moment, count = policy.statistics(user)
        np.testing.assert_allclose(gram, reference.S[user], atol=1e-9)
        np.testing.assert_allclose(moment, reference.b[user], atol=1e-9)
        assert count == reference.T[user]


@pytest.mark.parametrize("foreign", [False, True])
def test_a_policy_that_asks_chooses_whom_to_serve(foreign):
    """For its first rounds the users of whom least is known, then whoever comes."""
    env = cc.environments.Synthetic(**SIZES, arrivals=[9, 1, 1, 1, 0, 0, 0])
    served = []

    class Spy(Foreign):
        def __init__(self, inner):
            super().__init__(inner)
            self.choose_user = inner.choose_user

        @property
        def asks(self):
            return self.inner.asks

        def update(self, user, shown, click):
            served.append(user)
            super().update(user, shown, click)

    policy = cc.UserSelection(cc.ClubCascade(n_features=3, alpha=2.0), rounds=30)
    trace = cc.simulate(Spy(policy) if foreign else policy, env, rounds=200, k=2, seed=3)
    counts = [policy.statistics(user)[2] for user in range(7)]
    assert min(counts) >= 4  # the last three never come by themselves
    if foreign:
        assert served[:7] == list(range(7))
        assert set(served[30:]) == {0, 1, 2, 3}
        again = policy.fresh()
        same_run = cc.simulate(again, env, rounds=200, k=2, seed=3)
        assert same(policy.state(), again.state())
        np.testing.assert_array_equal(trace.reward, same_run.reward)


@pytest.mark.slow
def test_one_cluster_is_learned_and_several_are_not_one():
    """C3-UCB flattens with one true cluster and stays a line with several orthogonal ones."""

    def regret(policy, env, rounds=60_000):
        curve = cc.simulate(policy, env, rounds=rounds, k=4, seed=3).regret
        return curve[rounds // 2] - curve[rounds // 3], curve[-1] - curve[-rounds // 6]

    def world(m):
        return cc.environments.Synthetic(
            n_users=20, n_clusters=m, n_items=100, n_features=10, seed=2
        )

    _, late = regret(cc.C3UCB(n_features=10, beta=1.0), world(1))
    assert late < 60
    early, late = regret(cc.C3UCB(n_features=10, beta=1.0), world(5))
    assert late > 500
    assert late > 0.8 * early
    env = world(5)
    known = cc.KnownClusters(n_features=10, partition=env.partition)
    _, flat = regret(known, env)
    assert flat < 100
