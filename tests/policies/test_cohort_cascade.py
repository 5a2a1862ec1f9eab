"""CohortCascade against its own words, round by round, with the luck handed over."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels import luck
from clubcascade.policies._seeds import key_of
from tests.reference.cohort_cascade import CohortCascade
from tests.reference.problems import (
    assert_near,
    busy_problem,
    examples,
    play,
    problems,
)

NEAR_TIE = 1e-9
SINGLE = 2e-6
"""Lists are ranked in single precision: items this near may change places."""
PARAMETERS = st.fixed_dictionaries(
    {
        "explore": st.sampled_from([0.0, 0.4, 1.0]),
        "reg": st.sampled_from([0.3, 1.0, 4.0]),
        "max_cohorts": st.sampled_from([1, 2, 3, 256]),
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
        moves, self.draws = key_of(seed, "moves")[0], key_of(seed, "draws")[0]
        self.reference = CohortCascade(
            problem.d,
            problem.early,
            lambda t, place: luck.uniform(moves, t, place),
            **parameters,
        )

    def normals(self, number):
        vector = np.empty(self.problem.d)
        luck.normals(self.draws, number, vector)
        return vector

    def bounds(self, step):
        t = int(self.policy.state()["draws"][0])
        weights = self.reference.draw(step.user, self.normals(2 * t), self.normals(2 * t + 1))
        return step.items @ weights

    def update(self, step, rows, ranking, examined, clicks):
        self.reference.update(step.user, rows, examined, clicks)
        self.settle_ties()

    def settle_ties(self):
        """Where two ways are equally good (a cohort of everybody, say), follow the policy."""
        for place, way in enumerate(self.policy.state()["way"].tolist()):
            errors = self.reference.penalised(place)
            if errors[way] <= errors.min() + NEAR_TIE:
                self.reference.way[place] = way

    def after(self, step):
        """Compare everything; stop where rounding may have decided."""
        if self.reference.margin < NEAR_TIE:
            return False
        self.compare_all()
        return True

    def compare_all(self):
        reference, state = self.reference, self.policy.state()
        assert state["users"] == reference.users
        assert state["label"].tolist() == [reference.label[user] for user in reference.users]
        assert state["due"].tolist() == [reference.due[user] for user in reference.users]
        assert state["way"].tolist() == reference.way
        assert_near(state["error"], reference.error, "errors of the ways")
        assert_near(state["noise"], [reference.noise, reference.unrest], "noise")
        used = len(state["size"])
        for g in range(used):
            assert g == 0 or state["size"][g] == reference.size(g)
            assert state["root_count"][g] == reference.behind[g][1]
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
                scores = np.clip(catalog.features @ expected, 0.0, 1.0)
                assert_near(self.policy.scores(user, catalog), scores, "scores")
                assert_near(self.policy.scores(user, catalog.features), scores, "scores")
            centre = self.reference.weights(self.reference.label.get(user, 0))
            assert_near(self.policy.cluster_weights(user), centre, "cluster weights")
            if user in self.reference.rows:
                rows, clicks = self.reference.rows[user], self.reference.clicks[user]
                gram, moment, count = self.policy.statistics(user)
                assert_near(gram, rows.T @ rows, "gram")
                assert_near(moment, rows.T @ clicks, "moment")
                assert count == len(clicks)
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
            tolerance=SINGLE,
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

    def note(self, twin):
        self.stories += 1
        self.cut += not twin.play()
        for what, times in twin.reference.seen.items():
            self.seen[what] = self.seen.get(what, 0) + times


def test_agrees_in_small_stories():
    tally = Tally()

    @examples(100)
    @given(problems(), PARAMETERS)
    def story(problem, parameters):
        tally.note(Twin(problem, **parameters))

    story()
    print(vars(tally))
    assert tally.cut <= 0.02 * tally.stories


def test_agrees_in_busy_stories():
    """Users move, cohorts vanish and merge, and there are too few of them."""
    tally = Tally()

    @examples(40)
    @given(st.integers(0, 2**32 - 1), PARAMETERS)
    def story(seed, parameters):
        tally.note(Twin(busy_problem(seed, n_rounds=150), **parameters))

    story()
    print(vars(tally))
    assert tally.cut <= 0.02 * tally.stories
