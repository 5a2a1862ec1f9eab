"""A check is trusted once it has been seen to fail: policies with one promise broken each."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks import policies as checks


class LearnsUnseen(cc.C3UCB):
    def update(self, user, shown, click):
        feedback = cc.Feedback.of(click, len(shown))
        super().update(user, shown, cc.Feedback(examined=len(shown), clicks=feedback.clicks))


class AliasesState(cc.C3UCB):
    def state(self):
        return super().state() | {"model_gram": self._models.arrays["gram"][:1]}


class ForgetsInverse(cc.ClubCascade):
    def _take(self, state):
        super()._take(state)
        self._models.arrays["inverse"][:] = np.eye(self.n_features) / self.reg


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


@pytest.mark.parametrize(
    ("policy", "check"),
    [
        (LearnsUnseen(n_features=3), checks.unseen_items_teach_nothing),
        (AliasesState(n_features=3), checks.state_is_a_copy),
        (ForgetsInverse(n_features=3, alpha=0.5), checks.loaded_takes_the_same_step),
        (KeepsBadUsers(n_features=3), checks.bad_input_changes_nothing),
        (LearnsFromRecommend(n_features=3), checks.recommend_learns_nothing),
        (RepeatsRows(n_features=3), checks.lists_are_distinct_rows),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_broken_promise_is_caught(policy, check):
    with pytest.raises(AssertionError):
        check(policy)
