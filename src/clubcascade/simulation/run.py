"""A simulation in progress: compiled where possible, else through the public methods."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Environment, Feedback, Floats, Ints, Policy
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument
from clubcascade.kernels import loop
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.simulation.agreement import adjusted_rand_index
from clubcascade.simulation.trace import Trace

CHECKPOINTS = 100
"""How often the clusters are compared with the truth in one run."""


class Simulation:
    """A simulation in progress."""

    def __init__(self, policy: Policy, env: Environment, rounds: int, k: int, every: int) -> None:
        self.policy, self.env, self.rounds, self.k, self.every = policy, env, rounds, k, every
        entries = math.ceil(rounds / every)
        self.reward = np.zeros(entries)
        self.regret = np.zeros(entries)
        self.clusters = np.zeros(entries, np.int64)
        self.rand: npt.NDArray[np.float64] = np.full(entries, np.nan)
        phases = env.n_phases if isinstance(env, TabularEnvironment) else 1
        groups = (phases, len(loop.VISITS) + 1)
        visits = np.zeros(env.n_users, np.int64)
        self.visits: Any = visits if isinstance(env, TabularEnvironment) else Counter()
        self.visit_regret = np.zeros(groups)
        self.visit_rounds = np.zeros(groups, np.int64)
        self.log = loop.RunLog.make(
            reward=self.reward,
            regret=self.regret,
            clusters=self.clusters,
            visits=visits,
            visit_regret=self.visit_regret,
            visit_rounds=self.visit_rounds,
            every=every,
            rounds=rounds,
            total_reward=0.0,
            total_regret=0.0,
        )
        self.compared = np.zeros(0, np.int64)
        self.index = math.nan
        self.truth = self._truth_at(0) if hasattr(policy, "clusters") else None
        self.compiled = (
            isinstance(policy, CompiledPolicy)
            and policy.is_unchanged
            and isinstance(env, TabularEnvironment)
            and policy.n_features in (None, env.n_features)
            and (env.offered is None or policy._learner.fresh_items)
        )

    def run(self, progress: Callable[[int], None] | None) -> None:
        """Run all rounds, in stretches between the checkpoints, which are recorded rounds."""
        stretch = math.ceil(self.rounds / CHECKPOINTS)
        apart = self.every * math.ceil(stretch / self.every)
        checkpoints = {*range(apart, self.rounds, apart), self.rounds}
        advance = self._advance_compiled() if self.compiled else self._advance_plain
        first = 0
        for last in sorted(checkpoints.union(range(stretch, self.rounds, stretch))):
            advance(first, last)
            if last in checkpoints:
                self._compare_with_truth(last)
            if progress is not None:
                progress(last)
            first = last

    def _advance_compiled(self) -> Callable[[int, int], None]:
        policy, env = self.policy, self.env
        assert isinstance(policy, CompiledPolicy)
        assert isinstance(env, TabularEnvironment)
        node = self.node = self.numbers()
        best = np.zeros(len(env.attraction))
        if env.offered is None:
            for kind in np.unique(env.kinds).tolist():
                best[kind] = env.best_of_kind(kind, self.k)

        def advance(first: int, last: int) -> None:
            at = first
            while at < last:
                if not self._asks():
                    at = self._stretch(policy, env, node, best, at, last)
                if at < last:
                    self._plain_round(at)
                    node[self.user] = policy.number(self.user)
                    at += 1

        return advance

    def _stretch(
        self,
        policy: CompiledPolicy,
        env: TabularEnvironment,
        node: Ints,
        best: Floats,
        first: int,
        last: int,
    ) -> int:
        """Run compiled until ``last`` or the first round of a user who has not joined."""
        with policy._lock:
            if env.offered is not None:
                return int(
                    loop.run_fresh(policy.compiled, env.world, node, self.k, first, last, self.log)
                )
            shown = policy._learner.training_view(env.catalog)  # first: may bind larger arrays
            return int(
                loop.run_table(
                    policy.compiled,
                    env.world,
                    policy._learner.ranking_view(env.catalog, self.k),
                    shown,
                    node,
                    best,
                    self.k,
                    first,
                    last,
                    self.log,
                )
            )

    def _asks(self) -> bool:
        """Tell whether the policy chooses whom to serve in the next round."""
        return getattr(self.policy, "asks", False) is True

    def _advance_plain(self, first: int, last: int) -> None:
        for t in range(first, last):
            self._plain_round(t)

    def _plain_round(self, t: int) -> None:
        """Run one round through the public methods."""
        env, policy = self.env, self.policy
        if isinstance(env, TabularEnvironment):
            env.round = t - 1
        user, items = env.next_user()
        if self._asks():
            user = policy.choose_user(range(env.n_users))  # type: ignore[attr-defined]
        ranking = policy.recommend(user, items, self.k)
        self._check_list(ranking, len(items))
        feedback = env.respond(user, ranking)
        policy.update(user, items[ranking], feedback)
        loss = env.regret(user, ranking)
        self.visits[user] += 1
        loop.record(
            self.log,
            t,
            env.phase if isinstance(env, TabularEnvironment) else 0,
            self.visits[user],
            self._reward(feedback),
            math.nan if loss is None else loss,
            self._count_clusters(t),
        )
        self.user = user

    def _check_list(self, ranking: Ints, n_items: int) -> None:
        """Raise unless ``k`` distinct items are shown: an item twice would have two chances."""
        if len(ranking) != self.k or len({row for row in ranking if 0 <= row < n_items}) != self.k:
            raise InvalidArgument(
                f"recommend must return {self.k} distinct rows of the {n_items} items, "
                f"got {ranking!r} from {type(self.policy).__name__}"
            )

    def _reward(self, feedback: Feedback) -> float:
        if isinstance(self.env, TabularEnvironment):
            return self.env.reward(feedback)
        return float(bool(feedback.clicks))

    def _count_clusters(self, t: int) -> int:
        if (t + 1) % self.every and t + 1 < self.rounds:
            return 0
        clusters = getattr(self.policy, "clusters", None)
        return 0 if clusters is None else len(clusters())

    def _compare_with_truth(self, done: int) -> None:
        if self.truth is None:
            return
        earlier, self.truth = self.truth, self._truth_at(done - 1)
        ours = np.full(len(self.truth), -1)
        if isinstance(self.policy, CompiledPolicy):
            numbers = self.node if self.compiled else self.numbers()
            labels = self.policy.labels()
            ours[numbers >= 0] = labels[numbers[numbers >= 0]]
        else:
            for label, users in enumerate(self.policy.clusters()):  # type: ignore[attr-defined]
                ours[[user for user in users if user in range(len(ours))]] = label
        if self.truth is not earlier or not np.array_equal(ours, self.compared):
            met = ours >= 0
            self.index = adjusted_rand_index(ours[met], self.truth[met])
            self.compared = ours
        self.rand[(done - 1) // self.every] = self.index

    def _truth_at(self, t: int) -> Any:
        """Return the true clusters in a round; None where they are unknown."""
        if isinstance(self.env, TabularEnvironment):
            return self.env.partition_in(t)
        return getattr(self.env, "partition", None)

    def numbers(self) -> Ints:
        """Return the policy's number of each user of the environment, -1 for new users."""
        assert isinstance(self.policy, CompiledPolicy)
        return np.array([self.policy.number(user) for user in range(self.env.n_users)])

    def trace(self, seconds: float) -> Trace:
        """Return the record of the run."""
        known = not np.isnan(self.regret).any()
        return Trace(
            round=np.minimum(self.every * np.arange(1, len(self.reward) + 1), self.rounds),
            reward=self.reward,
            regret=self.regret if known else None,
            n_clusters=self.clusters,
            rand_index=self.rand if self.truth is not None else None,
            seconds=seconds,
            visit_regret=self.visit_regret if known else None,
            visit_rounds=self.visit_rounds,
        )
