"""Rings, sums and labels that hold whatever users do."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import clubcascade as cc
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_models as models
from tests.reference.problems import examples

# -- who is where ------------------------------------------------------------------------------


class Moves(RuleBasedStateMachine):
    """Users learn, are placed by the policy or by force, and cohorts merge, in any order."""

    @initialize(
        d=st.integers(1, 3),
        known=st.integers(0, 10),
        most=st.sampled_from([1, 2, 4, 30]),
        seed=st.integers(0, 10**6),
    )
    def begin(self, d, known, most, seed):
        self.rng = np.random.default_rng(seed)
        self.d, self.most, self.names = d, most, known
        self.tastes = self.rng.standard_normal((3, d))
        self.policy = cc.CohortCascade(
            n_features=d, users=range(known), max_cohorts=most, seed=seed
        )

    @property
    def arrays(self):
        return self.policy._cohorts.arrays

    @property
    def compiled(self):
        return self.policy._cohorts.compiled

    def occupied(self):
        return sorted(set(self.policy.labels().tolist()) - {0})

    @rule(lists=st.integers(1, 30), newcomers=st.booleans())
    def learn(self, lists, newcomers):
        for _ in range(lists):
            if self.names == 0 or (newcomers and self.rng.random() < 0.2):
                self.names += 1
            user = int(self.rng.integers(self.names))
            items = self.rng.standard_normal((4, self.d))
            items /= np.maximum(np.linalg.norm(items, axis=1, keepdims=True), 1.0)
            liked = np.flatnonzero(items @ self.tastes[user % 3] > 0.1)
            self.policy.update(user, items, int(liked[0]) if len(liked) else None)

    @precondition(lambda self: self.policy.users)
    @rule(times=st.integers(1, 20), turn=st.integers(0, 1))
    def place(self, times, turn):
        for _ in range(times):
            node = int(self.rng.integers(len(self.policy.users)))
            labels, cohorts = self.policy.labels(), len(self.occupied())
            moved = assignment.reassign(self.compiled, node, int(self.rng.integers(10**6)), turn)
            if moved:
                assert self.policy.labels()[node] > 0
            else:  # nothing but a merger may have happened
                merged = len(self.occupied()) == cohorts - 1
                assert merged or np.array_equal(labels, self.policy.labels())

    @precondition(lambda self: self.policy.users)
    @rule(times=st.integers(1, 10))
    def force(self, times):
        """Move users to any other label, or into none and back."""
        for _ in range(times):
            node = int(self.rng.integers(len(self.policy.users)))
            label = int(self.rng.integers(1, self.most + 1))
            if label != self.arrays["label"][node]:
                assignment._leave(self.compiled, node)
                if self.rng.random() < 0.9:
                    assignment._join(self.compiled, node, label)

    @precondition(lambda self: self.policy.users and len(self.occupied()) > 1)
    @rule()
    def merge(self):
        small, large = self.rng.permutation(self.occupied())[:2]
        members = np.flatnonzero(np.isin(self.policy.labels(), [small, large]))
        assignment.merge(self.compiled, int(small), int(large))
        assert np.flatnonzero(self.policy.labels() == large).tolist() == members.tolist()

    @rule()
    def renew(self):
        """What follows from the sums is right when it is computed, and may lag behind later."""
        arrays = self.policy._cohorts.models.arrays
        for g in (0, *self.occupied()):
            models.renew(self.compiled, g)
            models.settle(self.compiled, g)
            matrix = np.eye(self.d) + arrays["gram"][g]
            weights = np.linalg.solve(matrix, arrays["moment"][g])
            np.testing.assert_allclose(arrays["weights"][g], weights, atol=1e-8)
            np.testing.assert_allclose(arrays["inverse"][g] @ matrix, np.eye(self.d), atol=1e-8)
            assert self.arrays["root_count"][g] == arrays["count"][g]

    @rule()
    def save_and_load(self):
        other = self.policy.fresh()
        other.load_state(self.policy.state())
        self.policy = other

    @invariant()
    def rings_are_whole(self):
        a, labels = self.arrays, self.policy.labels()
        for g in range(1, self.most + 1):
            members = np.flatnonzero(labels == g).tolist()
            assert a["size"][g] == len(members)
            walked, node = [], int(a["head"][g])
            for _ in members:
                walked.append(node)
                assert a["before"][a["after"][node]] == node
                node = int(a["after"][node])
            assert sorted(walked) == members
            assert not members or node == a["head"][g]

    @invariant()
    def tallies_are_right(self):
        occupied, labels = self.occupied(), self.policy.labels()
        assert all(1 <= g <= self.most for g in occupied)
        now = self.compiled
        assert (now.n_cohorts, now.n_users) == (len(occupied), len(self.policy.users))
        assert now.last_model >= max(occupied, default=0)
        assert now.n_assigned == np.count_nonzero(labels)
        clusters = self.policy.clusters()
        assert len(clusters) == len(set(labels.tolist()))
        assert {user for part in clusters for user in part} == set(self.policy.users)

    @invariant()
    def cohorts_are_the_sums_of_their_users(self):
        a, sums, labels = self.arrays, self.policy._cohorts.models.arrays, self.policy.labels()
        for g in range(self.most + 1):
            members = np.flatnonzero(labels == g) if g else np.arange(len(labels))
            gram = a["gram"][members].sum(axis=0)
            moment = a["moment"][members].sum(axis=0)
            np.testing.assert_allclose(sums["gram"][g], gram, atol=1e-9)
            np.testing.assert_allclose(sums["moment"][g], moment, atol=1e-9)
            assert sums["count"][g] == a["count"][members].sum()
            then, now = a["root_count"][g], sums["count"][g]
            assert then / models.RENEW_GROWTH <= now <= models.RENEW_GROWTH * then
            upper, inverse = np.triu(a["root"][g]), sums["inverse"][g]
            if (g == 0 or len(members) > 0) and not a["stale"][g]:
                np.testing.assert_allclose(inverse @ upper.T @ upper, np.eye(self.d), atol=1e-8)

    @invariant()
    def the_row_of_strangers_is_empty(self):
        a, n = self.arrays, len(self.policy.users)
        for name in ("gram", "moment", "count", "label"):
            assert not a[name][n:].any()


def test_moves_keep_everything_in_order():
    run_state_machine_as_test(Moves, settings=settings(examples(40), stateful_step_count=25))
