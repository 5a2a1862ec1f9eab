"""Off-policy evaluation: right where it can tell, and refusals, each triggered once."""

import copy
import functools

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import Log, replay
from clubcascade.evaluation.offline import bootstrap, judge
from clubcascade.evaluation.redraw import lists_of, replayed
from tests.evaluation.worlds import logged, value


@functools.cache
def before():
    policy = cc.CohortCascade(n_features=3, seed=4, memory=0, explore=0.5)
    logged(policy, seed=1)
    return policy


def logger():
    """The logging model when the log began."""
    return copy.deepcopy(before())


@pytest.fixture(scope="module")
def world():
    """A log, what it was made by, and a frozen greedy policy that learned before."""
    catalog, attraction, columns = logged(logger(), lag=3)
    greedy = cc.CohortCascade(n_features=3, seed=4, memory=0, explore=0.0)
    greedy.load_state(before().state())
    return catalog, attraction, columns, greedy


def log_of(world, **changed):
    catalog, _, columns, _ = world
    return Log(**({"candidates": catalog} | columns | changed))


def test_the_logging_model_is_rebuilt_at_every_position(world):
    catalog, _, columns, _ = world
    log, online, waiting = log_of(world), logger(), {}
    for at, position in enumerate(log.answered):
        waiting[position] = at
    learned = 0
    for at, model in replayed(log, logger(), np.arange(400)):
        while learned < log.made[at]:
            learned += 1
            one = waiting[learned]
            online.update(log.users[one], catalog[log.shown[one]], columns["clicks"][one])
        user = log.users[at]
        np.testing.assert_array_equal(model.scores(user, catalog), online.scores(user, catalog))


def near(interval, truth):
    """Within four standard errors: other draws of the policies must not matter."""
    return abs(sum(interval) / 2 - truth) < interval[1] - interval[0]


def test_it_tells_the_truth_where_the_log_supports_the_policy(world):
    catalog, attraction, _, other = world
    told = cc.evaluate(log_of(world), other, logging=logger(), learned_until=0, draws=16)
    truth = value(other, catalog, attraction, log_of(world).users)
    assert 0.8 < told.first_weight < 1.2
    assert told.effective_lists > 100
    assert near(told.interval, truth)
    assert near(told.item_wise, truth)
    assert told.bracket[0] - 0.02 < truth < told.bracket[1] + 0.02
    assert told.interval[0] < told.estimate < told.interval[1]
    assert told.difference == pytest.approx(
        (told.interval[0] - told.logged, told.interval[1] - told.logged), abs=0.05
    )
    assert "item-wise, which assumes no effect of position" in str(told)


def refused(world, said, policy=None, changed=None, **options):
    options = {"logging": logger(), "learned_until": 0, "draws": 8} | options
    told = cc.evaluate(log_of(world, **(changed or {})), policy or world[3], **options)
    assert not told.can_tell
    assert any(said in reason for reason in told.reasons), told.reasons
    assert str(told).startswith("cannot tell: ")
    assert ". An online test can" in str(told)
    return told


def test_missing_parts_are_refused_before_computing(world):
    for said, changed, options in [
        ("the candidates of the lists are missing", {"candidates": None}, {}),
        ("the positions of the models", {"made": None, "answered": None}, {}),
        ("the logging model is missing", {}, {"logging": None}),
        ("the policy keeps learning", {}, {"learned_until": None}),
        ("learned from the evaluated window", {}, {"learned_until": 500, "first": 499}),
    ]:
        told = refused(world, said, changed=changed, **options)
        assert told.estimate is told.first_weight is told.bracket is None


def test_a_policy_that_the_log_does_not_support_is_refused_with_a_bracket(world, monkeypatch):
    scores = np.sort(world[3].scores(0, world[0]))
    assert scores[0] < scores[-1]

    class Worst(cc.Random):
        """Shows what the logger shows least."""

        def recommend_many(self, users, items, k):
            return np.tile(np.argsort(world[3].scores(users[0], items))[:k], (len(users), 1))

    monkeypatch.setitem(cc.POLICIES._known, "worst", Worst)  # for this test alone
    told = refused(world, "the mean weight of the first place is ", Worst())
    assert told.estimate is None
    assert 0 <= told.bracket[0] < told.bracket[1] <= 1
    assert f"between {told.bracket[0]:.3f} and {told.bracket[1]:.3f} clicks a list" in str(told)


def test_few_whole_lists_are_refused(world):
    refused(world, "the effective sample size of whole lists is ", sample=0.05)


def test_healthy_effective_lists_with_weights_near_zero_are_refused():
    users, click = np.repeat(np.arange(100), 10), np.zeros(1000, int)
    weights = np.column_stack([np.ones(1000), np.full(1000, 0.4)])  # the effective size is 1000
    told = judge(weights, np.zeros((1000, 3)), click, users, np.random.default_rng(0))
    assert told.effective_lists == pytest.approx(1000)
    assert told.reasons == ("the mean weight of whole lists is 0.40, below 0.5",)
    told = judge(weights + 0.1, np.zeros((1000, 3)), click, users, np.random.default_rng(0))
    assert told.can_tell


def test_few_users_are_refused(world):
    few = [user % 20 for user in log_of(world).users]
    refused(world, "20 users in the window are below 30", changed={"users": few})


def test_a_wrong_logging_model_is_refused(world):
    for wrong in (world[3], cc.CohortCascade(n_features=3, seed=4, memory=0, explore=9.0)):
        refused(world, "does not draw the logged lists", logging=wrong)


def test_a_difference_that_may_be_zero_is_refused(world):
    told = refused(world, "the interval of the difference contains 0", Itself(world))
    assert told.difference[0] <= 0 <= told.difference[1]
    assert told.estimate is not None
    assert f"between {told.bracket[0]:.3f} and {told.bracket[1]:.3f} clicks a list" in str(told)


class Itself(cc.Random):
    """The logging model, list by list: the log itself, evaluated on itself."""

    def __init__(self, world):
        super().__init__()
        log = log_of(world)
        self.models = replayed(log, logger(), np.arange(len(log)))

    def recommend_many(self, users, items, k):
        _, model = next(self.models)
        return model.recommend_many(users, items, k)

    def __deepcopy__(self, memo):
        return self


def test_by_default_the_window_begins_where_the_policy_stopped_learning(world):
    told = cc.evaluate(log_of(world), world[3], logging=logger(), learned_until=1000, draws=4)
    assert told.lists == sum(made >= 1000 for made in world[2]["made"])
    later = cc.evaluate(
        log_of(world), world[3], logging=logger(), learned_until=0, first=1000, draws=4
    )
    assert later == told


def test_workers_agree_with_one(world):
    one, two = (
        cc.evaluate(
            log_of(world), world[3], logging=logger(), learned_until=900, draws=8, workers=n
        )
        for n in (1, 2)
    )
    assert two.lists == one.lists
    assert two.estimate == pytest.approx(one.estimate, abs=0.02)


def test_evaluation_learns_nothing_and_repeats(world):
    policy, start, log = world[3], logger(), log_of(world)
    before = policy.state(), start.state()
    told = [
        cc.evaluate(log, policy, logging=start, learned_until=1200, draws=4, seed=3)
        for _ in range(2)
    ]
    assert told[0] == told[1]
    for old, kept in zip(before, (policy, start), strict=True):
        assert cc.core.state.same(old, kept.state())


def test_uniform_logs_need_no_logging_model():
    rng = np.random.default_rng(2)
    catalog, attraction, columns = logged(cc.Random(seed=3), n=2500, k=2)
    log = Log(
        columns["users"], columns["shown"], columns["clicks"], catalog, propensities="uniform"
    )
    policy = cc.C3UCB(n_features=3, beta=0.0)
    for _ in range(300):
        rows = rng.permutation(5)[:2]
        policy.update(0, catalog[rows], 0 if rng.random() < attraction[rows[0], 1] else None)
    told = cc.evaluate(log, policy, learned_until=0, draws=16)
    truth = value(policy, catalog, attraction, log.users)
    assert near(told.interval, truth)
    assert told.first_weight == pytest.approx(1, abs=0.15)
    with pytest.raises(InvalidArgument, match="logging must be None"):
        cc.evaluate(log, policy, logging=cc.Random(), learned_until=0)


def test_replay_of_a_learner_on_a_uniform_log_is_that_of_the_loop():
    rng, items = np.random.default_rng(1), np.eye(3)
    rates, n = np.array([0.1, 0.3, 0.8]), 6000
    shown = rng.integers(0, 3, (n, 1))
    clicks = [0 if rng.random() < rates[row] else None for row in shown[:, 0]]
    log = Log([0] * n, shown, clicks, items, propensities="uniform")
    policy = cc.C3UCB(n_features=3)
    lists, rate = replay(log, policy)
    assert lists == pytest.approx(n / 3, rel=0.1)
    assert rate > 0.7
    assert policy.statistics(0)[2] == 0 if 0 in policy.users else True  # it learned in a copy
    with pytest.raises(InvalidArgument, match="log must be uniformly random"):
        replay(Log([0] * n, shown, clicks, items, made=range(n)), policy)


def test_the_bootstrap_resamples_users_not_lists():
    rng = np.random.default_rng(0)
    rates = rng.random(50)
    column = np.repeat(rates, 100)[:, None]  # a user's lists are all alike
    repeats = bootstrap(column, np.repeat(np.arange(50), 100), rng)
    assert repeats.std() == pytest.approx(rates.std() / np.sqrt(50), rel=0.1)


def test_policies_without_many_are_asked_one_by_one():
    class One:
        def recommend(self, user, items, k):
            return np.arange(k)

    assert lists_of(One(), "a", np.eye(3), 2, 4).tolist() == [[0, 1]] * 4


def test_weights_that_cannot_be_give_no_bracket():
    """Propensities of 0.5 for an item that is in every list: the lower bound would be 2."""
    users = [n % 60 for n in range(300)]
    log = Log(users, [[0]] * 300, [0] * 300, np.eye(2), propensities=[[0.5]] * 300)
    policy = cc.C3UCB(n_features=2, beta=0.0)
    policy.update("x", np.eye(2)[:1], click=0)
    told = cc.evaluate(log, policy, learned_until=0)
    assert told.bracket is None and not told.can_tell and "clicks a list" not in str(told)
