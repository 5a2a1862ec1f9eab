"""CohortCascade against its own words, round by round, with the random numbers handed over."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import counter_rng, item_memory, ziggurat
from clubcascade.kernels.ridge import RENEW
from clubcascade.learners import base
from clubcascade.learners.seeds import key_of
from tests.reference.cohort_cascade import CohortCascade
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

NEAR_TIE = 1e-9
SINGLE = 2e-6
"""Lists are ranked in single precision: items this near may change places."""
PARAMETERS = st.fixed_dictionaries(
    {
        "explore": st.sampled_from([0.0, 0.4, 1.0]),
        "reg": st.sampled_from([0.3, 1.0, 4.0]),
        "max_cohorts": st.sampled_from([1, 2, 3, 256]),
        "link": st.sampled_from(["identity", "identity", "logistic"]),
        "memory": st.sampled_from([0, 3, 64]),
        "forget": st.sampled_from([None, None, 1, 4]),
    }
)


class Twin:
    """A policy and its literal counterpart, taken through the same story."""

    def __init__(self, problem, **parameters):
        seed = problem.seed % 1000
        self.problem = problem
        self.policy = cc.CohortCascade(
            n_features=problem.d, users=problem.early, seed=seed, **parameters
        )
        moves, self.draws = key_of(seed, "moves"), key_of(seed, "draws")
        self.reference = CohortCascade(
            problem.d,
            problem.early,
            lambda t, place: counter_rng.uniform(moves, t, place),
            **parameters,
        )

    def start_with_share(self, share):
        """Begin as if repeated pairs had been seen that speak for a share."""
        state, memory = self.policy.state(), self.reference.memory
        gaps = np.abs(item_memory.SHARES - share)
        memory.errors[:], memory.evaluated, memory.share = 9 + 2 * gaps, 60.0, share
        state["memory_error"][:-1], state["memory_error"][-1] = memory.errors, memory.evaluated
        state["memory_share"][0] = share
        self.policy.load_state(state)

    def compare_memory(self, state):
        memory = self.reference.memory
        assert state["memory_share"].tolist() == [memory.share]
        assert_near(state["memory_error"], [*memory.errors, memory.evaluated], "errors of shares")
        for number, user in enumerate(self.reference.users):
            records = memory.records.get(user, [])
            n = len(records)
            assert state["memory_shown"][number][:n].tolist() == [len(r.clicks) for r in records]
            assert state["memory_clicked"][number][:n].tolist() == [sum(r.clicks) for r in records]
            assert not state["memory_key"][number][n:].any()

    def normals(self, number):
        vector = np.empty(self.problem.d)
        ziggurat.normals(self.draws, number, vector)
        return vector

    def bounds(self, step):
        t = int(self.policy.state()["draws"][0])
        return self.normals(2 * t), self.normals(2 * t + 1)

    def check(self, step, normals, ranking):
        self.reference.assert_list(step.user, step.items, ranking, step.k, *normals, near=SINGLE)

    def update(self, step, rows, ranking, examined, clicks):
        self.reference.update(step.user, rows, examined, clicks)
        self.settle_ties()

    def settle_ties(self):
        """Where two predictors are equally good (a cohort of everybody, say), follow the policy."""
        for place, predictor in enumerate(self.policy.state()["way"].tolist()):
            if self.reference.may_be(place, predictor):
                self.reference.predictor[place] = predictor

    def after(self, step):
        """Compare everything; stop where rounding may have decided."""
        if self.reference.margin < NEAR_TIE:
            return False
        self.compare_all()
        return True

    def compare_all(self):
        reference, state = self.reference, self.policy.state()
        if self.policy.memory:
            self.compare_memory(state)
        assert state["users"] == reference.users
        assert state["label"].tolist() == [reference.label[user] for user in reference.users]
        assert state["due"].tolist() == [reference.due[user] for user in reference.users]
        assert state["way"].tolist() == reference.predictor
        errors = np.column_stack([reference.error, reference.evaluated])
        assert_near(state["error"][: constants.N_BUCKETS], errors, "errors, and observations")
        assert_near(state["mixture_error"], self.reference.mixture_error, "errors of the posterior")
        assert_near(state["noise"], [reference.noise, reference.move_rate], "noise")
        used = len(state["size"])
        for g in range(used):
            assert g == 0 or state["size"][g] == reference.size(g)
            assert state["split_due"][g] == reference.split_due[g]
            assert state["root_count"][g] == reference.behind[g][2]
            if g == 0 or reference.size(g) > 0:
                assert_near(state["model_weights"][g], reference.weights(g), "cohort weights")
                assert state["model_count"][g] == reference.count_of(g)
                matrix = reference.reg * np.eye(reference.d) + reference.behind[g][0]
                upper = np.triu(state["root"][g])
                assert_near(upper.T @ upper, matrix, "the matrix that draws are made from")
        assert state["tally"].tolist()[:3] == [
            reference.lists,
            len(reference.occupied()),
            len(reference.users),
        ]
        assert all(g < used for g in reference.occupied())

    def compare_answers(self):
        """What everybody is told, those too who have not come yet."""
        for user in self.problem.users:
            expected = self.reference.expected(user)
            for catalog in self.problem.catalogs:
                scores = self.reference.chance(catalog.features @ expected)
                memory = self.reference.memory
                for row, item in enumerate(catalog.features):
                    if record := memory.find(user, item):
                        gap = np.mean(record.clicks) - scores[row]
                        scores[row] += memory.shrinkage(record) * gap
                assert_near(self.policy.scores(user, catalog), scores, "scores")
                assert_near(self.policy.scores(user, catalog.features), scores, "scores")
            prior_mean = self.reference.weights(self.reference.label.get(user, 0))
            assert_near(self.policy.cluster_weights(user), prior_mean, "cluster weights")
            if user in self.reference.rows:
                rows, clicks = self.reference.rows[user], self.reference.clicks[user]
                gram, moment, count = self.policy.statistics(user)
                assert_near(gram, rows.T @ rows, "gram")
                assert_near(moment, rows.T @ clicks, "moment")
                assert count == self.reference.counts[user]
                assert_near(self.policy.user_weights(user), expected, "user weights")

    def play(self):
        """Play the story; say whether it was compared to its end."""
        play(
            self.problem,
            self.policy,
            self.bounds,
            self.update,
            self.after,
            capped=False,
            check=self.check,
        )
        done = self.reference.margin >= NEAR_TIE
        if done:
            self.compare_answers()
        return done


class Tally:
    """How many stories were compared to their end, and what happened in them."""

    def __init__(self):
        self.stories = self.cut = 0
        self.seen = {}

    def play(self, twin):
        self.stories += 1
        self.cut += not twin.play()
        for what, times in twin.reference.seen.items():
            self.seen[what] = self.seen.get(what, 0) + times

    def check(self):
        """Ties are rare: a user, say, of whom two centres predict the very same."""
        assert self.cut <= 0.1 * self.stories, f"{self.cut} of {self.stories} cut short"


def test_agrees_in_small_stories():
    tally = Tally()

    @examples(100)
    @given(problems(), PARAMETERS)
    def story(problem, parameters):
        tally.play(Twin(problem, **parameters))

    story()
    tally.check()


@pytest.mark.compiled  # a few stories show too little
def test_agrees_in_busy_stories():
    """Users move, cohorts vanish and merge, and there are too few of them."""
    tally = Tally()

    @examples(30)
    @given(st.integers(0, 2**32 - 1), PARAMETERS)
    def story(seed, parameters):
        tally.play(Twin(busy_problem(seed, n_rounds=150), **parameters))

    story()
    tally.check()
    assert min(tally.seen.values()) >= 5, tally.seen


@pytest.mark.compiled  # a few stories show too little
def test_agrees_where_items_are_remembered():
    """Shares between none and all; items are forgotten, and shares change."""
    tally, shares = Tally(), Counter()

    @examples(40)
    @given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 0.5, 0.9, 1.0]), PARAMETERS)
    def story(seed, share, parameters):
        twin = Twin(busy_problem(seed, n_rounds=120), **parameters | {"memory": 12 + seed % 3})
        twin.start_with_share(share)
        tally.play(twin)
        shares[share, twin.reference.memory.share] += 1

    story()
    tally.check()
    assert len(shares) > 4, shares
    assert {now for _, now in shares} >= {0.0, 1.0}, shares


PARTS = {
    "draws_moves": "draws_moves",
    "measures_noise": "measures_noise",
    "mirrors_draws": "mirrors_draws",
    "sequential": "passes_over",
}


def test_agrees_without_its_parts():
    """What the table of ablations leaves out: moves by chance, measured noise and so on."""
    tally = Tally()

    @examples(24)
    @given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(PARTS)))
    def story(seed, part):
        twin = Twin(busy_problem(seed, n_rounds=100))
        twin.policy._cohorts.compiled.assign(**{part: False})
        setattr(twin.reference, PARTS[part], False)
        tally.play(twin)

    story()
    tally.check()


def crowd(n_users, n_rounds, seed, d=3):
    """Many users of two tastes who come one after the other: the last weigh next to nothing."""
    rng = np.random.default_rng(seed)
    catalog = cc.Catalog(vectors(rng, 30, d))
    tastes = rng.standard_normal((2, d))
    rounds = []
    for t in range(n_rounds):
        who = int(rng.integers(4 + (n_users - 4) * t // n_rounds))
        source = catalog if rng.random() < 0.8 else None
        kind = "taste" if rng.random() < 0.6 else "none"
        rounds.append(Round(who, catalog.features, source, 5, None, kind, 0, tastes[who % 2]))
    return Problem(d, list(range(n_users)), 4, [catalog], rounds, seed)


def play_long(problem, every=20):
    """Play a long story and compare now and then; return the twin and the most cohorts seen."""
    twin = Twin(problem)
    most = []

    def after(step):
        most.append(len(twin.reference.occupied()))
        if twin.reference.margin < NEAR_TIE:
            return False
        if len(most) % every == 0:
            twin.compare_all()
        return True

    play(problem, twin.policy, twin.bounds, twin.update, after, False, twin.check)
    assert len(most) == len(problem.rounds), "rounding might have decided: choose another seed"
    twin.compare_all()
    twin.compare_answers()
    return twin, max(most)


def test_agrees_with_more_cohorts_than_are_tried_at_a_time():
    """Everybody is in a cohort of its own before each reassignment: only some can be tried."""
    twin, _ = play_long(crowd(n_users=24, n_rounds=250, seed=3), every=50)
    policy, reference = twin.policy, twin.reference
    moved = 0
    for t in range(40):
        for number, user in enumerate(reference.users):
            if reference.label[user] != number + 1:
                assignment._leave(policy._cohorts.compiled, number)
                assignment._join(policy._cohorts.compiled, number, number + 1)
                reference.move(user, number + 1)
        assert len(reference.occupied()) > constants.MAX_CANDIDATES + 1
        number = t % len(reference.users)
        found = assignment.reassign(policy._cohorts.compiled, number, t, 0)
        assert found == reference.place(reference.users[number], t, 0)
        assert reference.margin >= NEAR_TIE, "rounding might have decided: choose another seed"
        assert policy.labels().tolist() == [reference.label[user] for user in reference.users]
        moved += found
    assert moved > 20


def test_agrees_where_users_have_fewer_observations_than_features():
    twin, _ = play_long(crowd(n_users=8, n_rounds=60, seed=3, d=40), every=5)
    assert twin.reference.seen["moves"] > 0


@pytest.mark.compiled  # long
def test_agrees_over_a_long_run_of_many_users():
    """Models are renewed, and users who are a small share of their cohort are not taken out."""
    twin, _ = play_long(crowd(n_users=60, n_rounds=900, seed=4), every=50)
    state = twin.policy.state()
    assert state["model_count"][0] > RENEW
    shares = state["count"] / state["model_count"][state["label"]]
    assert ((state["label"] > 0) & (shares < constants.RENEW_GROWTH - 1)).any()


# -- what everybody relies on --------------------------------------------------------------------


def world(seed=0, **settings):
    sizes = {"n_users": 20, "n_clusters": 3, "n_items": 70, "n_features": 4, "seed": seed}
    return cc.environments.Synthetic(**sizes | settings)


def played(env, rounds=600, k=4, **parameters):
    """A policy after some rounds, and its log."""
    policy = cc.CohortCascade(n_features=env.n_features, **parameters)
    env.reset(3)
    log = []
    for _ in range(rounds):
        user, items = env.next_user()
        ranking = policy.recommend(user, items, k)
        feedback = env.respond(user, ranking)
        policy.update(user, items[ranking], feedback)
        log.append((user, ranking, feedback))
    return policy, log


def test_a_log_gives_the_same_state_whatever_was_recommended():
    env = world()
    policy, log = played(env)
    again, batch = policy.fresh(), policy.fresh()
    for number, (user, ranking, feedback) in enumerate(log):
        if number % 3 == 0:
            again.recommend(number, env.catalog, 5)
        again.update(user, env.catalog[ranking], feedback)
    users, rankings, feedbacks = zip(*log, strict=True)
    batch.update_many(users, env.catalog[np.array(rankings)], feedbacks)
    states = [one.state() for one in (policy, again, batch)]
    assert [state.pop("draws")[0] for state in states] == [600, 200, 0]
    assert same(states[0], states[1])
    assert same(states[0], states[2])
    assert len(policy.clusters()) > 1


def test_threads_share_the_draws_of_one_thread():
    """Every draw is made once: all lists together are those of single calls in a row."""
    env = world()
    policy, _ = played(env)
    alone = policy.fresh()
    alone.load_state(policy.state())
    expected = [tuple(alone.recommend(7, env.catalog, 4).tolist()) for _ in range(400)]
    barrier = threading.Barrier(4)

    def ask():
        barrier.wait()
        return [tuple(policy.recommend(7, env.catalog, 4).tolist()) for _ in range(100)]

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(4)]
        found = [ranking for one in asked for ranking in one.result()]
    assert Counter(found) == Counter(expected)
    assert len(set(found)) > 1
    assert same(policy.state(), alone.state())


@pytest.mark.parametrize("memory", [0, 64])
def test_a_batch_in_threads_is_single_calls_in_a_row(memory, monkeypatch):
    monkeypatch.setattr(base, "LARGE_BATCH", 0)
    monkeypatch.setattr(base, "CORES", 3)
    env = world()
    policy, _ = played(env, rounds=200, memory=memory)
    alone = policy.fresh()
    alone.load_state(policy.state())
    users = [user % 20 for user in range(50)]
    for k in (1, 6):
        found = policy.recommend_many(users, env.catalog, k)
        expected = [alone.recommend(user, env.catalog, k) for user in users]
        np.testing.assert_array_equal(found, expected)
    assert same(policy.state(), alone.state())
    assert policy.state()["draws"] == 300


@pytest.mark.compiled  # long
def test_late_users_find_their_cohort():
    """A newcomer is served as everyone, and is soon, nearly always, with those of its taste."""
    env = world(n_clusters=2, n_users=30, n_features=6)
    policy, _ = played(env, rounds=4000)
    stranger = policy.scores("late", env.catalog)
    everyone = np.clip(env.catalog.features @ policy._cohorts.models.arrays["weights"][0], 0.0, 1.0)
    assert_near(stranger, everyone, "scores of a stranger")
    found = []
    for known in range(10):
        late = f"late {known}"
        for lists in range(60):
            env.next_user()
            ranking = policy.recommend(late, env.catalog, 4)
            policy.update(late, env.catalog[ranking], env.respond(known, ranking))
            if lists >= 30:
                (mates,) = [users for users in policy.clusters() if late in users]
                found.append(known in mates)
    assert np.mean(found) > 0.8
    assert len(policy.users) == 40


def test_a_few_new_users_are_pioneers():
    numbers = [node for node in range(600) if posterior.is_warm_up(node, 0)]
    assert numbers == [15, 31, 47, 63, 79, 95, 111, 127, 255, 383, 511]
    assert posterior.is_warm_up(15, constants.EARLY_OBSERVATIONS - 1)
    assert not posterior.is_warm_up(15, constants.EARLY_OBSERVATIONS)


@pytest.mark.compiled  # long
def test_several_clicks_teach_more_than_the_first():
    """Feedback of the dependent click model is learned up to the last click."""
    env = world(click=cc.click.DCM([0.3, 0.3, 0.3, 0.3]))
    policy, log = played(env, rounds=3000)
    assert any(len(feedback.clicks) > 1 for _, _, feedback in log)
    count = sum(policy.statistics(user)[2] for user in policy.users)
    assert count == sum(feedback.examined for _, _, feedback in log)
    clicks = sum(len(feedback.clicks) for _, _, feedback in log)
    first = sum(bool(feedback.clicks) for _, _, feedback in log)
    assert clicks > 1.2 * first
    env.reset(9)
    ours = cc.simulate(policy, env, rounds=500, k=4, seed=9).regret[-1]
    theirs = cc.simulate(cc.Random(seed=1), env, rounds=500, k=4, seed=9).regret[-1]
    assert ours < 0.3 * theirs


def test_one_feature():
    items = np.array([[-1.0], [0.5], [1.0], [0.0]])
    policy = cc.CohortCascade(n_features=1)
    for user in "abcd" * 60:
        likes = 2 if user in "ab" else 0
        policy.update(user, items[[1, 3, 2 - likes, likes]], 3)
    assert policy.recommend("a", items, 1) == [2]
    assert policy.recommend("c", items, 1) == [0]
    assert partition(policy.clusters()) == {frozenset("ab"), frozenset("cd")}


@pytest.mark.parametrize("memory", [0, 64])
def test_items_without_features(memory):
    """Zero rows are all alike: the first are shown, and nothing breaks."""
    items = np.zeros((70, 3))
    policy = cc.CohortCascade(n_features=3, memory=memory)
    for number in range(200):
        assert policy.recommend(number % 3, items, 4).tolist() == [0, 1, 2, 3]
        policy.update(number % 3, items[:4], number % 4)
    for name, value in policy.state().items():
        assert name == "users" or np.isfinite(value).all(), name
    assert len(set(policy.scores(0, items).tolist())) == 1
    assert policy.statistics(0)[2] > 0


def test_a_list_of_everything():
    env = world()
    policy, _ = played(env)
    ranking = policy.recommend(3, env.catalog, 70)
    assert sorted(ranking.tolist()) == list(range(70))
    ranking = policy.recommend("stranger", env.catalog.features[:5], 5)
    assert sorted(ranking.tolist()) == list(range(5))


@pytest.mark.compiled  # long
@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_cohorts_than_allowed(most):
    env = world(n_users=30, n_clusters=12, n_features=12)
    policy, _ = played(env, rounds=2500, max_cohorts=most)
    labels = policy.labels()
    assert labels.max() == most
    assert len(policy.clusters()) <= most + 1


def test_without_exploration_the_expected_best_is_shown():
    env = world()
    policy, _ = played(env, explore=0.0)
    for user in [*range(20), "stranger"]:
        scores = policy.scores(user, env.catalog)
        for k in (1, 4):
            ranking = policy.recommend(user, env.catalog, k)
            assert_near(scores[ranking[0]], scores.max(), "score of the first place", SINGLE)


@pytest.mark.compiled  # long
def test_draws_are_as_wide_as_the_belief():
    """Mean and covariance of many draws, by the two-stage formula."""
    env = world(n_clusters=1)
    policy, _ = played(env, rounds=60, explore=0.7)
    state = policy.state()
    user = policy.users[0]
    predictor = int(state["way"][posterior.bucket(int(state["count"][0]))])
    precision = posterior.precision_of(predictor)
    g = int(state["label"][0]) if predictor > len(constants.PRECISIONS) else 0
    scale = 0.7**2 * state["noise"][0]
    upper = np.triu(state["root"][g])
    prior_mean = constants.MEAN_WIDENING**2 * scale * np.linalg.inv(upper.T @ upper)
    own = (
        np.linalg.inv(state["gram"][0] + precision * np.eye(4))
        if precision < np.inf
        else np.zeros((4, 4))
    )
    shrink = precision * own if precision < np.inf else np.eye(4)
    expected = shrink @ prior_mean @ shrink + scale * own
    draws, mean = np.empty((20_000, 4)), np.empty(4)
    for shift in draws:
        posterior.sample_weights(policy._cohorts.compiled, 0, mean, shift)
        assert_near(mean, policy.user_weights(user), "mean of the draws")
    draws += mean
    spread = np.sqrt(np.diag(expected))
    error = (draws.mean(axis=0) - policy.user_weights(user)) / spread
    assert np.abs(error).max() < 0.04
    assert_near(policy._parts(user, np.eye(4))[1], spread, "widths", 1e-9)
    found = np.cov(draws.T) / np.outer(spread, spread)
    assert np.abs(found - expected / np.outer(spread, spread)).max() < 0.05


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"explore": -0.1}, "explore"),
        ({"reg": 0}, "reg"),
        ({"max_cohorts": 0}, "max_cohorts"),
        ({"seed": -1}, "seed"),
        ({"users": [1, 1]}, "users must be distinct, got 2 of whom 1 differ"),
    ],
)
def test_bad_parameters(wrong, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.CohortCascade(**{"n_features": 3} | wrong)


def test_questions_about_strangers():
    policy = cc.CohortCascade(n_features=2, users=["known"])
    for question in (policy.user_weights, policy.statistics):
        with pytest.raises(cc.errors.UnknownUser, match="'stranger'"):
            question("stranger")
    assert not policy.cluster_weights("stranger").any()
    assert policy.statistics("known")[2] == 0
