"""A check is trusted once it has been seen to fail: policies with one promise broken each."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks import check_policy
from clubcascade.checks import policies as checks
from clubcascade.core import generator_of
from clubcascade.learners.base import numbered
from clubcascade.policies import POLICIES


class LearnsUnseen(cc.C3UCB):
    def update(self, user, shown, click):
        feedback = cc.Feedback.of(click, len(shown))
        super().update(user, shown, cc.Feedback(examined=len(shown), clicks=feedback.clicks))


class AliasesState(cc.C3UCB):
    def state(self):
        return super().state() | {"model_gram": self._learner.models.arrays["gram"][:1]}


class ForgetsInverse(cc.ClubCascade):
    def load_state(self, state):
        super().load_state(state)
        self._learner.models.arrays["inverse"][:] = np.eye(self.n_features) / self.reg


class KeepsBadUsers(cc.C3UCB):
    def update(self, user, shown, click):
        if self.number(user) < 0:
            self._join(user)
        super().update(user, shown, click)


class LearnsFromRecommend(cc.MultipleLinUCB):
    def recommend(self, user, items, k):
        ranking = super().recommend(user, items, k)
        if self.number(user) >= 0:
            self.update(user, items[ranking], None)
        return ranking


class RepeatsRows(cc.Random):
    def recommend(self, user, items, k):
        return np.zeros(k, dtype=np.intp)


class FillsBeforeItChecks(cc.C3UCB):
    def load_state(self, state):
        try:
            self._learner.load_state(state, dict(enumerate(state["users"] or ())))
            self._numbers = numbered(state["users"])
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise cc.errors.ModelFileError("too late") from error


class LetsKeyErrorThrough(cc.C3UCB):
    def load_state(self, state):
        super().load_state({name: state[name] for name in self.state()})


class TakesAnyShape(cc.C3UCB):
    def load_state(self, state):
        super().load_state(state | {"group": state["group"].ravel()[: len(state["users"])]})


class CopiesShare(cc.C3UCB):
    def __deepcopy__(self, memo):
        return self


class PicklesForget(cc.C3UCB):
    def __reduce__(self):
        return super().__reduce__()[0], (type(self), self.params, self.fresh().state())


class CopiesDrawAnew(cc.CascadeLinTS):
    def __reduce__(self):
        call, (kind, params, state) = super().__reduce__()
        return call, (kind, params, state | {"draws": self.fresh().state()["draws"]})


class TellsOtherScores(cc.C3UCB):
    def _convert_scores(self, user, items, rows, scores):
        scores[:] = 1.0


class TellsAnotherList(cc.C3UCB):
    def recommend_scored(self, user, items, k):
        rows, scores = super().recommend_scored(user, items, k)
        return rows[::-1], scores[::-1]


class RenamesAnArgument(cc.C3UCB):
    def __init__(self, *, n_features, weight=1.0):
        super().__init__(n_features=n_features, beta=weight)


class SetsAnything(cc.C3UCB):
    def set_params(self, **params):
        vars(self).update(params)
        return self


class SetsAfterLearning(cc.C3UCB):
    def set_params(self, **params):
        if not params.keys() <= self.params.keys():
            return super().set_params(**params)
        vars(self).update(vars(type(self)(**self.params | params)))
        return self


LUCK = np.random.default_rng(1)


class Draws(cc.C3UCB):
    """Shows items at random, from its own stream."""

    def __init__(self, *, n_features, seed=0):
        super().__init__(n_features=n_features)
        self.seed = seed
        self._rng = np.random.default_rng(seed)

    def recommend(self, user, items, k):
        super().recommend(user, items, k)
        return self._rng.permutation(len(items))[:k]

    has_scores = False

    def state(self):
        return super().state() | {"draws": self._rng.bit_generator.state}

    def load_state(self, state):
        rng = generator_of(state.get("draws"))
        super().load_state(state)
        self._rng = rng


class DrawsFromTheWorld(Draws):
    def recommend(self, user, items, k):
        return LUCK.permutation(len(items))[:k]


class KeepsALiveGenerator(Draws):
    def state(self):
        return super().state() | {"draws": self._rng}


class ForgetsItsPlace(Draws):
    def state(self):
        return cc.C3UCB.state(self)

    def load_state(self, state):
        cc.C3UCB.load_state(self, state)


class Overflows(cc.C3UCB):
    def update(self, user, shown, click):
        super().update(user, shown, click)
        with np.errstate(over="ignore"):
            self._learner.models.arrays["drift"] *= 1e100


@pytest.mark.parametrize(
    ("policy", "check"),
    [
        (LearnsUnseen(n_features=3), checks.unseen_items_teach_nothing),
        (AliasesState(n_features=3), checks.state_is_a_copy),
        (ForgetsInverse(n_features=3, alpha=0.5), checks.loaded_takes_the_same_step),
        (KeepsBadUsers(n_features=3), checks.bad_input_changes_nothing),
        (LearnsFromRecommend(n_features=3), checks.recommend_learns_nothing),
        (RepeatsRows(n_features=3), checks.lists_are_distinct_rows),
        (Overflows(n_features=3), checks.extremes_stay_finite),
        (FillsBeforeItChecks(n_features=3), checks.refused_state_changes_nothing),
        (LetsKeyErrorThrough(n_features=3), checks.refused_state_changes_nothing),
        (TakesAnyShape(n_features=3), checks.refused_state_changes_nothing),
        (CopiesShare(n_features=3), checks.copies_take_the_same_steps),
        (PicklesForget(n_features=3), checks.copies_take_the_same_steps),
        (CopiesDrawAnew(n_features=3), checks.copies_take_the_same_steps),
        (TellsOtherScores(n_features=3), checks.list_with_scores_is_recommend_and_scores),
        (TellsAnotherList(n_features=3), checks.list_with_scores_is_recommend_and_scores),
        (DrawsFromTheWorld(n_features=3), checks.simulations_run_it),
        (SetsAnything(n_features=3), checks.parameters_are_kept),
        (SetsAfterLearning(n_features=3), checks.learned_keeps_its_parameters),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_broken_promise_is_caught(policy, check):
    with pytest.raises(AssertionError):
        check(policy)


TYPE_ERROR = {"recommend": lambda self, user, items, k: len(k)}


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (RenamesAnArgument(n_features=3), r"parameters_are_kept: .*got no self\.weight"),
        (RepeatsRows(n_features=3), "lists_are_distinct_rows: a row twice"),
        (
            type("Lists", (cc.Random,), {"recommend": lambda *_: [0, 1, 2]})(n_features=3),
            r"lists_are.*: wanted a NumPy array of row numbers, got \[0, 1, 2\]",
        ),
        (
            type("Short", (cc.Random,), {"recommend": lambda *_: np.arange(2)})(n_features=3),
            "lists_are.*: wanted 3 rows",
        ),
        (type("NoInts", (cc.C3UCB,), TYPE_ERROR)(n_features=3), "lists_are.*: TypeError"),
        (
            KeepsALiveGenerator(n_features=3),
            "state_is_a_copy: draws .* live Generator; .*generator_of",
        ),
        (ForgetsItsPlace(n_features=3), "loaded_takes_the_same_step: .*rng.bit_generator.state"),
        (FillsBeforeItChecks(n_features=3), "saved_continues_bit_for_bit: .*clubcascade.register"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_policy(broken)


def test_a_class_is_no_policy():
    with pytest.raises(cc.errors.InvalidArgument, match=r"such as C3UCB\(\.\.\.\), got the class"):
        check_policy(cc.C3UCB)


def test_a_wrong_error_for_bad_input_is_told_with_the_call():
    class Bare(cc.C3UCB):
        def update(self, user, shown, click):
            if isinstance(click, str):
                raise KeyError(click)
            super().update(user, shown, click)

    with pytest.raises(
        AssertionError, match=r"update\(0, items of .*, '2'\) must be refused .*KeyE"
    ):
        checks.bad_input_changes_nothing(Bare(n_features=3))


def test_a_numpy_generator_is_kept_in_two_lines(monkeypatch):
    monkeypatch.setattr(POLICIES, "_known", dict(POLICIES._known))
    cc.register(Draws)
    check_policy(Draws(n_features=3, seed=7))


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_may_fill_itself_before_it_has_checked(name, monkeypatch):
    """The check sees it of every policy of the package."""
    for policy in POLICIES[name].examples():
        live = policy.fresh()
        monkeypatch.setattr(live, "load_state", FillsBeforeItChecks.load_state.__get__(live))
        with pytest.raises((AssertionError, cc.errors.ModelFileError)):
            checks.refused_state_changes_nothing(live)
