"""ClubCascade against Algorithm 1, line by line; and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.kernels import counter_rng
from clubcascade.learners.seeds import key_of
from tests.reference.club_cascade import ClubCascade
from tests.reference.problems import (
    Problem,
    Round,
    assert_best,
    assert_near,
    busy_problem,
    examples,
    partition,
    play,
    problems,
    vectors,
)

ALPHAS = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0, math.inf]) | st.floats(0.02, 1.5)
BETAS = st.sampled_from([0.0, 0.1, 1.0]) | st.floats(0.0, 4.0)
REGS = st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0)
DISCOUNTS = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4).map(
    lambda each: sorted(each, reverse=True)
)
PARAMETERS = st.fixed_dictionaries({"alpha": ALPHAS, "beta": BETAS, "reg": REGS})


def edges_of(policy):
    pairs = [frozenset(pair) for pair in policy.graph.edges()]
    assert len(pairs) == len(set(pairs)), "an edge twice"
    return set(pairs)


class Twin:
    """A policy and the literal algorithm, taken through the same story."""

    def __init__(
        self,
        problem,
        alpha,
        beta,
        reg,
        start="complete",
        p=None,
        variant="paper",
        schedule=None,
        discounts=None,
    ):
        self.random = start == "random"
        kind = cc.ClubCascade if variant == "paper" else cc.ClubCascade2017
        self.policy = kind(
            n_features=problem.d,
            users=problem.early,
            alpha=alpha,
            beta=beta,
            reg=reg,
            start=start,
            edge_probability=p if self.random else None,
            discounts=discounts,
            seed=problem.seed % 1000,
        )
        if schedule is not None:
            self.policy = cc.AlphaSchedule(self.policy, steps=schedule)
        edges = edges_of(self.policy) if self.random else None
        self.reference = ClubCascade(
            problem.d,
            problem.early,
            alpha,
            beta,
            reg,
            edges=edges,
            variant=variant,
            schedule=schedule or (),
            discounts=discounts or (1.0,),
        )
        self.compare_all()

    def links(self, user):
        """Whom the reference must link a newcomer to: what only the policy's luck knows."""
        if user in self.reference.S or not self.random:
            return None
        return self.policy.graph.links_of_newcomer()

    def bounds(self, step):
        self.newcomer = self.links(step.user)
        return self.reference.bounds(step.user, step.items, self.newcomer)

    def update(self, step, rows, ranking, examined, clicks):
        self.reference.update(step.user, rows, examined, clicks, self.newcomer)

    def after(self, step):
        """Compare everything; stop where rounding may decide whether an edge is deleted."""
        if self.reference.margin < 1e-9:
            return False
        self.compare_all()
        return True

    def compare_all(self):
        policy, reference = self.policy, self.reference
        assert edges_of(policy) == reference.E
        assert partition(policy.clusters()) == reference.clusters()
        for user in reference.users:
            gram, moment, count = policy.statistics(user)
            assert_near(gram, reference.S[user], "gram")
            assert_near(moment, reference.b[user], "moment")
            assert count == reference.T[user]
            assert_near(policy.user_weights(user), reference.theta[user], "user weights")
            expected = reference.cluster_weights(user)
            assert_near(policy.cluster_weights(user), expected, "cluster weights")
            self.compare_line_10(user)

    def compare_line_10(self, user):
        """What edges are decided by: kept from round to round, in both precisions."""
        learner, number = (
            getattr(self.policy, "base", self.policy)._learner,
            self.policy.number(user),
        )
        own = learner.users.arrays
        if learner.graph.arrays["degree"][number] == 0:
            return  # brought up to date when somebody joins
        theta, radius = self.reference.theta[user], self.reference.radius(self.reference.T[user])
        assert_near(own["weights"][number], theta, "kept weights")
        assert_near(own["radius"][number], radius, "radius")
        if self.random:
            shown = own["by_user"][number]
            assert_near(shown[len(theta)] or 1.0, radius, "shown radius", 1e-6)  # 0 for 1
            assert_near(shown[: len(theta)], theta, "shown weights", 1e-5)
        else:
            assert_near(own["by_feature"][:, number], theta, "shown weights", 1e-5)

    def compare_scores(self, problem):
        """Scores of everybody, of those too who have not come yet."""
        for user in problem.users:
            for catalog in problem.catalogs:
                expected = self.reference.scores(user, catalog.features, self.links(user))
                assert_near(self.policy.scores(user, catalog), expected, "scores")
                assert_near(self.policy.scores(user, catalog.features), expected, "scores")

    def play(self, problem):
        play(problem, self.policy, self.bounds, self.update, self.after)
        if self.reference.margin >= 1e-9:
            self.compare_scores(problem)


@examples(300)
@given(problems(), PARAMETERS)
def test_agrees_with_the_algorithm_from_a_complete_graph(problem, parameters):
    Twin(problem, **parameters).play(problem)


@examples(200)
@given(problems(), PARAMETERS, st.sampled_from([0.0, 0.3, 0.6, 1.0]) | st.floats(0.0, 1.0))
def test_agrees_with_the_algorithm_from_a_random_graph(problem, parameters, p):
    Twin(problem, start="random", p=p, **parameters).play(problem)


@examples(150)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 1.2), st.none() | st.floats(0.1, 0.6))
def test_agrees_with_the_algorithm_in_busy_stories(seed, alpha, p):
    problem = busy_problem(seed)
    start = "complete" if p is None else "random"
    Twin(problem, alpha=alpha, beta=0.5, reg=0.3, start=start, p=p).play(problem)


def test_the_problems_are_not_trivial():
    """Many stories end with a partition that is neither one cluster nor all singletons."""
    seen = {"whole": 0, "between": 0, "alone": 0}

    @settings(examples(120), max_examples=120)
    @given(problems(), PARAMETERS)
    def story(problem, parameters):
        reference = ClubCascade(problem.d, problem.early, **parameters)
        for step in problem.rounds:
            ranking = reference.recommend(step.user, step.items, step.k)
            chosen = np.array(ranking) if step.override is None else step.override
            reference.update(step.user, step.items[chosen], *step.look(chosen))
        parts, users = len(reference.clusters()), len(reference.users)
        kind = "whole" if parts == 1 else "alone" if parts == users else "between"
        seen[kind] += 1

    story()
    assert min(seen.values()) >= 3, seen


def test_a_newcomer_meets_what_a_lone_user_learned():
    """What a user learns while nobody is linked to it counts when somebody joins."""
    problem = Problem(2, ["a", "b"], 0, [cc.Catalog(np.eye(2))], [], seed=0)
    twin = Twin(problem, alpha=0.4, beta=1.0, reg=1.0)
    one, other = np.eye(2)[:1], np.eye(2)[1:]
    for user, shown, click in [("a", one, 0)] * 30 + [("b", other, None)]:
        twin.policy.update(user, shown, click)
        twin.reference.update(user, shown, 1, () if click is None else (click,))
        twin.compare_all()
    assert partition(twin.policy.clusters()) == {frozenset("a"), frozenset("b")}


@pytest.mark.compiled  # long
@pytest.mark.parametrize("start", ["complete", "random"])
def test_agrees_over_a_long_run(start):
    """Two thousand rounds with a small ridge: nothing piles up, and late users keep coming."""
    rng = np.random.default_rng(20)
    users = [f"user {i}" for i in range(12)]
    catalog = cc.Catalog(vectors(rng, 12, 4))
    tastes = rng.standard_normal((3, 4))
    rounds = []
    for t in range(2000):
        who = int(rng.integers(4 + t // 250))
        source = catalog if rng.random() < 0.8 else None
        items = vectors(rng, 12, 4) if source is None else source.features
        rounds.append(Round(users[who], items, source, 3, None, "taste", 0, tastes[who % 3]))
    problem = Problem(4, users, 3, [catalog], rounds, seed=5)
    twin = Twin(problem, alpha=1.5, beta=0.3, reg=0.05, start=start, p=0.7)
    every = iter(range(1, len(rounds) + 1))

    def after(step):
        if twin.reference.margin < 1e-9:
            return False
        if next(every) % 50 == 0:
            twin.compare_all()
            twin.compare_scores(problem)
        return True

    play(problem, twin.policy, twin.bounds, twin.update, after)
    assert next(every, None) is None, "rounding might have decided: choose another seed"
    assert 1 < len(twin.reference.clusters()) < len(twin.reference.users)


@examples(60)
@given(problems(), BETAS, REGS)
def test_alpha_infinite_is_one_shared_model(problem, beta, reg):
    club = cc.ClubCascade(
        n_features=problem.d, users=problem.early, alpha=math.inf, beta=beta, reg=reg
    )
    shared = cc.C3UCB(n_features=problem.d, beta=beta, reg=reg)
    for step in problem.rounds:
        for user in problem.users:
            expected = shared.scores(user, step.offered)
            assert_near(club.scores(user, step.offered), expected, "scores")
        chosen = club.recommend(step.user, step.offered, step.k)
        click = step.click(*step.look(chosen))
        club.update(step.user, step.shown(chosen), click)
        shared.update(step.user, step.shown(chosen), click)
        assert len(club.clusters()) == 1


@examples(60)
@given(problems(), BETAS, REGS)
def test_alpha_zero_is_one_model_per_user(problem, beta, reg):
    """``distance >= 0`` always holds: a user is alone from its first feedback on.

    Users known beforehand without feedback share a component, but no data: they too have a model
    of their own. A user who has not joined is linked to all, and has everybody's data until then.
    """
    club = cc.ClubCascade(n_features=problem.d, users=problem.early, alpha=0, beta=beta, reg=reg)
    alone = cc.MultipleLinUCB(n_features=problem.d, beta=beta, reg=reg)
    joined = set(problem.early)
    met = set()
    for step in problem.rounds:
        for user in joined:
            expected = alone.scores(user, step.offered)
            assert_near(club.scores(user, step.offered), expected, "scores")
        chosen = alone.recommend(step.user, step.offered, step.k)
        click = step.click(*step.look(chosen))
        club.update(step.user, step.shown(chosen), click)
        alone.update(step.user, step.shown(chosen), click)
        joined.add(step.user)
        met.add(step.user)
        silent = joined - met
        singletons = {frozenset([user]) for user in met}
        assert partition(club.clusters()) == singletons | ({frozenset(silent)} if silent else set())


@examples(60)
@given(problems(), PARAMETERS, st.randoms(use_true_random=False))
def test_items_behind_the_click_teach_nothing(problem, parameters, random):
    one = Twin(problem, **parameters).policy
    other = Twin(problem, **parameters).policy
    rng = np.random.default_rng(random.randrange(2**32))
    for step in problem.rounds:
        chosen = one.recommend(step.user, step.offered, step.k)
        examined, clicks = step.look(chosen)
        one.update(step.user, step.shown(chosen), step.click(examined, clicks))
        rows = step.items[chosen].copy()
        rows[examined:] = vectors(rng, step.k, problem.d)[examined:]
        if clicks and random.random() < 0.3:  # or were not even on the list
            rows = rows[: random.randint(examined, step.k)]
        other.update(step.user, rows, step.click(examined, clicks))
        assert edges_of(one) == edges_of(other)
        learned = zip(one.statistics(step.user), other.statistics(step.user), strict=True)
        assert all(np.array_equal(found, expected) for found, expected in learned)
        for user in problem.users:
            scores = other.scores(user, step.offered)
            assert np.array_equal(one.scores(user, step.offered), scores)


@examples(60)
@given(problems(), PARAMETERS, st.randoms(use_true_random=False))
def test_relabelling_users_changes_nothing(problem, parameters, random):
    twin = Twin(problem, **parameters)
    names = [("renamed", i) for i in range(len(problem.users))]
    random.shuffle(names)
    name = dict(zip(problem.users, names, strict=True))
    early = [name[user] for user in problem.early]
    random.shuffle(early)
    renamed = cc.ClubCascade(n_features=problem.d, users=early, **parameters)

    def after(step):
        if twin.after(step) is False:
            return False
        chosen = last["chosen"]
        renamed.update(name[step.user], step.shown(chosen), step.click(*step.look(chosen)))
        assert partition(renamed.clusters()) == {
            frozenset(name[user] for user in part) for part in twin.policy.clusters()
        }
        for user in problem.users:
            expected = twin.policy.scores(user, step.offered)
            assert_near(renamed.scores(name[user], step.offered), expected, "scores")
        return True

    last = {}

    def update(step, rows, ranking, examined, clicks):
        last["chosen"] = ranking
        twin.update(step, rows, ranking, examined, clicks)

    play(problem, twin.policy, twin.bounds, update, after)


@examples(80)
@given(problems(), PARAMETERS, st.sampled_from(["complete", "random"]))
def test_the_code_of_2017(problem, parameters, start):
    """Another threshold, a bias column, and every bonus times a number in [0, 1)."""
    twin = Twin(problem, start=start, p=0.7, variant="code2017", **parameters)
    reference = twin.reference
    for step in problem.rounds:
        shakes = uniforms(twin.policy, len(step.items))
        links = twin.newcomer = twin.links(step.user)
        bounds = reference.bounds(step.user, step.items, links, uniforms=shakes)
        ranking = twin.policy.recommend(step.user, step.offered, step.k)
        assert_best(ranking, bounds, step.k)
        chosen = ranking if step.override is None else step.override
        examined, clicks = step.look(chosen)
        twin.policy.update(step.user, step.shown(chosen), step.click(examined, clicks))
        twin.update(step, step.items[chosen], chosen, examined, clicks)
        if twin.after(step) is False:
            return
    twin.compare_scores(problem)


def uniforms(policy, n):
    """The numbers that the next call of ``recommend`` will multiply the bonuses with."""
    key, draws = key_of(policy.seed, "draws"), policy.state()["draws"][0]
    return np.array([counter_rng.uniform(key, draws, j) for j in range(n)])


def test_the_code_of_2017_has_its_own_alpha():
    assert cc.ClubCascade2017(n_features=4).alpha == 16.0


def test_edge_probability_of_the_paper():
    p = cc.theory.edge_probability(300, 2, 0.8, 0.1)
    policy = cc.ClubCascade(n_features=2, users=range(300), start="random", edge_probability=p)
    pairs = 300 * 299 / 2
    assert abs(len(edges_of(policy)) - p * pairs) < 5 * math.sqrt(pairs * p * (1 - p))


@examples(40)
@given(st.integers(1, 40), st.floats(0.0, 1.0), st.integers(0, 2**31))
def test_a_random_start_links_known_and_late_users_alike(n, p, seed):
    """The edges of users known beforehand are those of the same users joining one by one."""
    setting = dict(
        n_features=1, alpha=math.inf, start="random", edge_probability=p, seed=seed, reg=1.0
    )
    known = cc.ClubCascade(users=range(n), **setting)
    late = cc.ClubCascade(**setting)
    for user in range(n):
        links = set(late.graph.links_of_newcomer())
        late.update(user, [[1.0]], None)
        assert links == {
            other for edge in edges_of(late) if user in edge for other in edge - {user}
        }
    assert edges_of(known) == edges_of(late)
    assert partition(known.clusters()) == partition(late.clusters())


@examples(120)
@given(problems(), PARAMETERS, DISCOUNTS)
def test_discounts_agree_with_the_algorithm(problem, parameters, discounts):
    Twin(problem, **parameters, discounts=discounts).play(problem)


@examples(40)
@given(st.integers(0, 2**32 - 1), DISCOUNTS, st.none() | st.floats(0.1, 0.6))
def test_discounts_agree_with_the_algorithm_in_busy_stories(seed, discounts, p):
    problem = busy_problem(seed)
    start = "complete" if p is None else "random"
    twin = Twin(
        problem, alpha=0.6, beta=0.5, reg=0.3, start=start, p=p, discounts=[1.0, *discounts]
    )
    twin.play(problem)


@examples(40)
@given(problems(), PARAMETERS)
def test_discounts_of_one_are_none_to_the_bit(problem, parameters):
    plain = cc.ClubCascade(n_features=problem.d, users=problem.early, **parameters)
    ones = cc.ClubCascade(n_features=problem.d, users=problem.early, discounts=[1.0], **parameters)
    for step in problem.rounds:
        chosen = plain.recommend(step.user, step.offered, step.k)
        assert np.array_equal(ones.recommend(step.user, step.offered, step.k), chosen)
        click = step.click(*step.look(chosen))
        plain.update(step.user, step.shown(chosen), click)
        ones.update(step.user, step.shown(chosen), click)
        assert same(plain.state(), ones.state())


def test_a_file_of_the_first_version_still_loads():
    """Its state says nothing of updates and of alpha: none are counted, alpha is the given one."""
    policy = cc.ClubCascade(n_features=1, users="ab", alpha=0.7)
    policy.update("a", [[1.0]], 0)
    state = policy.state()
    del state["updates"], state["alpha"]
    other = policy.fresh()
    other.load_state(state)
    assert other.alpha == 0.7
    assert same(other.state() | {"updates": policy.state()["updates"]}, policy.state())


def test_small_worlds_work():
    for d, items in ((1, [[1.0]]), (1, [[0.0]]), (2, np.zeros((3, 2))), (2, [[0.6, 0.8]] * 4)):
        policy = cc.ClubCascade(n_features=d, alpha=0.1)
        for click in (0, None, 0):
            ranking = policy.recommend("only", items, k=1)
            policy.update("only", np.asarray(items)[ranking], click)
        assert policy.clusters() == [{"only"}]
        assert np.isfinite(policy.scores("only", items)).all()


def test_questions_about_strangers():
    policy = cc.ClubCascade(n_features=2)
    with pytest.raises(cc.errors.UnknownUser, match="'nobody'"):
        policy.statistics("nobody")
    with pytest.raises(cc.errors.UnknownUser):
        policy.user_weights("nobody")
    assert policy.scores("nobody", np.eye(2)).shape == (2,)
    assert policy.clusters() == []
