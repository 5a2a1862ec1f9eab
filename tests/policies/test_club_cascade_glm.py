"""ClubCascadeGLM against Algorithm 1 with Equation (8) solved by SciPy; and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.errors import InvalidArgument, UnknownName
from tests.reference.club_cascade_glm import ClubCascadeGLM
from tests.reference.online_newton import ClubCascadeOnePass
from tests.reference.problems import assert_near, busy_problem, examples, partition, play, problems

ALPHAS = st.sampled_from([0.0, 0.3, 1.0, math.inf]) | st.floats(0.1, 3.0)
PARAMETERS = st.fixed_dictionaries(
    {
        "alpha": ALPHAS,
        "beta": st.sampled_from([0.0, 1.0]) | st.floats(0.0, 8.0),
        "reg": st.sampled_from([0.1, 4.0]) | st.floats(0.05, 8.0),
        "link": st.sampled_from(["logistic", "probit", "identity"]),
        "penalty": st.sampled_from([None, 0.01, 1.0]),
    }
)


def edges_of(policy):
    return {frozenset(pair) for pair in policy.graph.edges()}


class Twin:
    """A policy and the literal algorithm, taken through the same story."""

    def __init__(self, problem, start="complete", p=None, solver="exact", **parameters):
        self.random = start == "random"
        self.policy = cc.ClubCascadeGLM(
            n_features=problem.d,
            users=problem.early,
            start=start,
            edge_probability=p,
            seed=problem.seed % 1000,
            solver=solver,
            **parameters,
        )
        edges = edges_of(self.policy) if self.random else None
        literal = ClubCascadeOnePass if solver == "online" else ClubCascadeGLM
        self.reference = literal(problem.d, problem.early, edges=edges, **parameters)

    def bounds(self, step):
        known = step.user in self.reference.S
        links = None
        if self.random and not known:
            links = self.policy.graph.links_of_newcomer()
        self.newcomer = links
        expected = self.reference.scores(step.user, step.items, links)
        assert_near(self.policy.scores(step.user, step.offered), expected, "scores")
        return self.reference.bounds(step.user, step.items, links)

    def update(self, step, rows, ranking, examined, clicks):
        self.reference.update(step.user, rows, examined, clicks, self.newcomer)

    def after(self, step):
        """Compare everything; stop where rounding may decide whether an edge is deleted."""
        policy, reference = self.policy, self.reference
        if reference.margin < 1e-7:
            return False
        assert edges_of(policy) == reference.E
        assert partition(policy.clusters()) == reference.clusters()
        gram, moment, count = policy.statistics(step.user)
        assert_near(gram, reference.S[step.user], "gram")
        assert_near(moment, reference.b[step.user], "moment")
        assert count == reference.T[step.user]
        assert_near(policy.user_weights(step.user), reference.theta[step.user], "user weights")
        expected = reference.cluster_weights(step.user)
        assert_near(policy.cluster_weights(step.user), expected, "cluster weights")
        return True

    def run(self, problem):
        play(problem, self.policy, self.bounds, self.update, self.after, capped=False)


@examples(40)
@given(problems(most_rounds=14), PARAMETERS)
def test_agrees_with_scipy(problem, parameters):
    Twin(problem, **parameters).run(problem)


@examples(15)
@given(problems(most_rounds=14), PARAMETERS, st.floats(0.0, 1.0))
def test_random_start_agrees_with_scipy(problem, parameters, p):
    Twin(problem, start="random", p=p, **parameters).run(problem)


@pytest.mark.parametrize("solver", ["exact", "online"])
@pytest.mark.parametrize("seed", range(4))
def test_long_busy_stories_agree_with_scipy(seed, solver):
    problem = busy_problem(seed)
    Twin(problem, alpha=1.2, beta=1.0, reg=1.0, link="logistic", solver=solver).run(problem)


@examples(30)
@given(problems(most_rounds=14), PARAMETERS, st.none() | st.floats(0.0, 1.0))
def test_one_pass_agrees_with_a_minimisation_per_sample(problem, parameters, p):
    start = "complete" if p is None else "random"
    Twin(problem, start=start, p=p, solver="online", **parameters).run(problem)


@pytest.mark.parametrize("solver", ["exact", "online"])
@pytest.mark.parametrize("seed", range(3))
def test_the_identity_link_is_the_linear_policy(seed, solver):
    problem = busy_problem(seed, n_rounds=150)
    common = {"n_features": problem.d, "users": problem.early, "alpha": 0.3, "reg": 1.5}
    ours = cc.ClubCascadeGLM(**common, link="identity", solver=solver)
    linear = cc.ClubCascade(**common)
    for step in problem.rounds:
        assert_near(
            ours.scores(step.user, step.offered), linear.scores(step.user, step.offered), "scores"
        )
        ranking = linear.recommend(step.user, step.offered, step.k)
        examined, clicks = step.look(ranking)
        for policy in (ours, linear):
            policy.update(step.user, step.shown(ranking), step.click(examined, clicks))
        assert ours.clusters() == linear.clusters()
        assert_near(ours.user_weights(step.user), linear.user_weights(step.user), "weights")
        for found, expected in zip(
            ours.statistics(step.user), linear.statistics(step.user), strict=True
        ):
            assert_near(found, expected, "statistics")


@pytest.mark.parametrize("solver", ["exact", "online"])
@pytest.mark.parametrize("items", ["fixed", "fresh"])
def test_compiled_and_plain_runs_are_the_same(solver, items):
    env = cc.environments.Synthetic(
        n_users=6, n_clusters=2, n_items=20, n_features=4, items=items, link="logistic", seed=3
    )
    policy = cc.ClubCascadeGLM(n_features=4, alpha=1.0, beta=0.5, reg=1.0, solver=solver)
    compiled, plain = policy.fresh(), policy.fresh()
    trace = cc.simulate(compiled, env, rounds=300, k=3, seed=5)
    env.reset(5)
    regret = 0.0
    for _ in range(300):
        user, offered = env.next_user()
        ranking = plain.recommend(user, offered, 3)
        regret += env.regret(user, ranking)
        plain.update(user, offered[ranking], env.respond(user, ranking))
    assert trace.regret[-1] == pytest.approx(regret, abs=1e-9)
    assert compiled.clusters() == plain.clusters()
    for user in range(6):
        assert np.array_equal(compiled.user_weights(user), plain.user_weights(user))


@pytest.mark.parametrize("solver", ["exact", "online"])
def test_lazy_lists_of_a_catalogue_are_those_of_loose_items(solver):
    env = cc.environments.Synthetic(
        n_users=6, n_clusters=2, n_items=300, n_features=4, link="logistic", scale=2.0, seed=3
    )
    policy = cc.ClubCascadeGLM(n_features=4, users=range(6), alpha=1.2, beta=0.5, solver=solver)
    sizes = set()
    for _ in range(500):
        user, catalog = env.next_user()
        ranking = policy.recommend(user, catalog, 3)
        assert ranking.tolist() == policy.recommend(user, catalog.features, 3).tolist()
        policy.update(user, catalog[ranking], env.respond(user, ranking))
        sizes.add(len(policy.clusters()))
    assert len(sizes) > 1, "no component split on the way"


def test_more_users_than_inverses_are_kept_for(monkeypatch):
    for part in ("club", "user_estimates"):
        monkeypatch.setattr(f"clubcascade.learners.{part}.OWN_INVERSES", 9)
    for solver in ("exact", "online"):
        env = cc.environments.Synthetic(
            n_users=12, n_clusters=2, n_items=20, n_features=4, link="logistic", seed=3
        )
        weights = {}
        for room in (9, 100):
            for part in ("club", "user_estimates"):
                monkeypatch.setattr(f"clubcascade.learners.{part}.OWN_INVERSES", room)
            policy = cc.ClubCascadeGLM(
                n_features=4, users=range(10), alpha=1.0, reg=1.0, solver=solver
            )
            cc.simulate(policy, env, rounds=200, k=3, seed=5)
            weights[room] = np.array([policy.user_weights(user) for user in range(12)])
        assert_near(weights[9], weights[100], "weights")


def test_many_late_users_make_room():
    policy = cc.ClubCascadeGLM(n_features=2, alpha=math.inf, reg=1.0)
    items = cc.Catalog(np.eye(2))
    for user in range(40):
        policy.update(user, items[[user % 2, 1 - user % 2]], click=0 if user % 3 else None)
    assert policy.clusters() == [set(range(40))]
    other = policy.fresh()
    other.load_state(policy.state())
    assert np.array_equal(other.cluster_weights(7), policy.cluster_weights(7))


@pytest.mark.parametrize("solver", ["exact", "online"])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_separable_users_have_finite_weights(link, solver):
    policy = cc.ClubCascadeGLM(n_features=3, users=range(3), link=link, penalty=1e-6, solver=solver)
    items = np.eye(3)
    for _ in range(300):
        policy.update(0, items[[0]], click=0)  # only clicks
        policy.update(1, items[[1, 2]], click=None)  # no click ever
        policy.update(2, items[[0, 1, 2]], click=2)  # a perfect divide
    for user in range(3):
        weights = policy.user_weights(user)
        assert np.isfinite(weights).all()
        scores = policy.scores(user, items)
        assert np.isfinite(scores).all() and scores.min() >= 0 and scores.max() <= 1
    assert policy.user_weights(0)[0] > 3
    assert policy.user_weights(1)[1] < -3
    assert policy.recommend(2, items, k=1) == [2]


def test_constants_by_default():
    slope = math.exp(-2) / math.sqrt(2 * math.pi)  # the smallest on [-2, 2], at its ends
    assert cc.ClubCascadeGLM(n_features=4, link="probit").link.slope == pytest.approx(slope)
    free = cc.ClubCascadeGLM(n_features=4)
    assert (free.alpha, free.beta, free.penalty) == (8.0, 4.0, 1.0)
    assert free.params["alpha"] is free.params["beta"] is free.params["penalty"] is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link": "logit"}, "unknown link 'logit'; did you mean 'logistic'"),
        ({"link": 3}, "link must be one of .*, or a clubcascade.Link, got 3"),
        ({"penalty": 0.0}, "penalty must be a number in \\[1e-06, 1e\\+09\\], got 0.0"),
        ({"solver": "newton"}, "solver must be one of 'exact', 'online', got 'newton'"),
        ({"reg": 0.0}, "reg must be"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises((InvalidArgument, UnknownName), match=message):
        cc.ClubCascadeGLM(n_features=3, **parameters)


def test_an_own_link_is_saved_with_the_policy(tmp_path):
    link = cc.Link(
        lambda z: 0.5 + math.atan(z) / math.pi, lambda z: 1 / (math.pi * (1 + z * z)), name="cauchy"
    )
    policy = cc.ClubCascadeGLM(n_features=2, link=link, alpha=1.0)
    for click in (0, None, 1, 0):
        policy.update("alice", np.eye(2), click=click)
    policy.save(tmp_path / "model.cc")
    other = cc.load(tmp_path / "model.cc")
    assert other.link.name == "cauchy"
    assert np.array_equal(other.scores("alice", np.eye(2)), policy.scores("alice", np.eye(2)))
    for each in (policy, other):
        each.update("alice", np.eye(2), click=None)
    assert np.array_equal(other.cluster_weights("alice"), policy.cluster_weights("alice"))


@pytest.mark.compiled  # long
def test_samples_do_not_grow_with_a_catalogue():
    env = cc.environments.Synthetic(
        n_users=5, n_clusters=1, n_items=15, n_features=4, link="logistic", seed=3
    )
    policy = cc.ClubCascadeGLM(n_features=4, users=range(5))
    cc.simulate(policy, env, rounds=3000, k=3, seed=5)
    state = policy.state()
    assert len(state["items"]) <= 15
    assert len(state["own_ids"]) <= 5 * 15 and len(state["fit_ids"]) <= 15
    assert state["fit_looks"].sum() == state["own_looks"].sum() == state["user_count"].sum() > 3000
    online = cc.ClubCascadeGLM(n_features=4, users=range(5), solver="online")
    cc.simulate(online, env, rounds=100, k=3, seed=5)
    assert online.state()["items"].size == 0
