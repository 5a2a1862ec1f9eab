"""Let a policy serve an environment's users and write down how it does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Environment, Feedback, Floats, Ints, Policy
from clubcascade.environments.table import Table
from clubcascade.errors import MissingExtra
from clubcascade.kernels import play
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies.cohort_cascade import CohortCascade

if TYPE_CHECKING:
    import pandas

MOST_ENTRIES = 1_000_000
"""Entries of a trace when ``every`` is left out: memory stays bounded in long runs."""
CHECKPOINTS = 100
"""How often the clusters are compared with the truth in one run."""


@dataclass(frozen=True)
class Trace:
    """How one policy did in one environment. All arrays have one entry per recorded round.

    Attributes
    ----------
    round
        The recorded rounds, from 1.
    reward
        Rounds with a click, so far; where positions are discounted, the sum of the discounts of
        the first clicked positions.
    regret
        Expected loss against the best lists, so far; None where the truth is unknown.
    n_clusters
        Clusters of users after the round; 0 for a policy without clusters.
    rand_index
        Adjusted Rand index of the clusters against the true ones: 1 is perfect, 0 is chance. NaN
        between the rounds where it was measured; None where the truth is unknown.
    seconds
        Wall time of the run.
    """

    round: Ints
    reward: Floats
    regret: Floats | None
    n_clusters: Ints
    rand_index: Floats | None
    seconds: float

    def to_pandas(self) -> pandas.DataFrame:
        """Return the trace as a table with one row per recorded round."""
        try:
            import pandas  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                'to_pandas needs pandas: pip install "clubcascade[experiments]"'
            ) from error
        columns: dict[str, Any] = {
            "round": self.round,
            "reward": self.reward,
            "regret": np.nan if self.regret is None else self.regret,
            "n_clusters": self.n_clusters,
            "rand_index": np.nan if self.rand_index is None else self.rand_index,
        }
        return pandas.DataFrame(columns)


def simulate(
    policy: Policy | None,
    env: Environment,
    rounds: int,
    k: int,
    seed: int,
    *,
    every: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Let ``policy`` serve ``rounds`` users of ``env`` lists of ``k`` items; the policy learns.

    One seed gives every policy the same arrivals and the same luck. Policies of the package run
    compiled on the package's environments; any other :class:`Policy` or :class:`Environment`
    works through its public methods, with the same result. A policy that asks for users
    (``ask`` of :class:`clubcascade.ClubCascade`) chooses from all of the environment's.

    Parameters
    ----------
    policy
        Who ranks; None for a new :class:`clubcascade.CohortCascade`.
    env
        For whom.
    rounds, k
        How many lists, of which length.
    seed
        Seed of arrivals and clicks; the environment is reset to it.
    every
        Record every n-th round and the last; by default every round, or fewer beyond a million.
    progress
        Called now and then with the number of rounds done.

    Examples
    --------
    >>> import clubcascade as cc
    >>> env = cc.environments.Synthetic(
    ...     n_users=4, n_clusters=2, n_items=30, n_features=6, seed=1
    ... )
    >>> trace = cc.simulate(cc.Random(seed=1), env, rounds=100, k=3, seed=5)
    >>> int(trace.round[-1]), bool((np.diff(trace.regret) >= 0).all())
    (100, True)
    >>> better = cc.simulate(None, env, rounds=100, k=3, seed=5)
    >>> bool(better.regret[-1] < trace.regret[-1])
    True
    """
    rounds = validation.whole("rounds", rounds, low=1)
    if every is None:
        every = math.ceil(rounds / MOST_ENTRIES)
    every = validation.whole("every", every, low=1, high=rounds)
    k = validation.list_length(k, getattr(env, "n_items", k))
    env.reset(validation.whole("seed", seed, low=0))
    if policy is None:
        policy = CohortCascade(n_features=env.n_features, seed=seed)
    run = _Run(policy, env, rounds, k, every)
    started = time.perf_counter()
    run.play(progress)
    return run.trace(time.perf_counter() - started)


class _Run:
    """One simulation under way."""

    def __init__(self, policy: Policy, env: Environment, rounds: int, k: int, every: int) -> None:
        self.policy, self.env, self.rounds, self.k, self.every = policy, env, rounds, k, every
        entries = math.ceil(rounds / every)
        self.reward = np.zeros(entries)
        self.regret = np.zeros(entries)
        self.clusters = np.zeros(entries, np.int64)
        self.rand: npt.NDArray[np.float64] = np.full(entries, np.nan)
        self.sums = np.zeros(2)
        self.log = play.make_log(
            np.array([every, rounds]), self.sums, self.reward, self.regret, self.clusters
        )
        self.compared = np.zeros(0, np.int64)
        self.index = math.nan
        truth = getattr(env, "partition", None)
        self.truth = truth if hasattr(policy, "clusters") else None
        self.compiled = (
            isinstance(policy, CompiledPolicy)
            and policy.ranks_by_model
            and isinstance(env, Table)
            and policy.n_features in (None, env.n_features)
            and (env.offered is None or policy.plays_fresh)
        )

    def play(self, progress: Callable[[int], None] | None) -> None:
        """Play all rounds, in stretches between the checkpoints, which are recorded rounds."""
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
        assert isinstance(env, Table)
        node = self.node = self.numbers()
        kinds = range(int(env.kind.max()) + 1)
        values = {int(env.kind[user]): user for user in range(env.n_users)}
        best = np.zeros(len(kinds))
        if env.offered is None:
            for kind, user in values.items():
                best[kind] = env.best_value(user, self.k)

        def advance(first: int, last: int) -> None:
            at = first
            while at < last:
                if not self._asks():
                    at = self._stretch(policy, env, node, best, at, last)
                if at < last:
                    self._plain_round(at)
                    newcomer = self.user
                    node[newcomer] = policy.number(newcomer)
                    at += 1

        return advance

    def _stretch(
        self,
        policy: CompiledPolicy,
        env: Table,
        node: Ints,
        best: Floats,
        first: int,
        last: int,
    ) -> int:
        """Play compiled until ``last`` or the first round of a user who has not joined."""
        with policy._lock:
            if env.offered is not None:
                return int(
                    play.play_fresh(policy.compiled, env.world, node, self.k, first, last, self.log)
                )
            return int(
                play.play_table(
                    policy.compiled,
                    env.world,
                    policy.shelf(env.catalog, self.k),
                    policy.lessons(env.catalog),
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
        """Play one round through the public methods."""
        env, policy = self.env, self.policy
        if isinstance(env, Table):
            env.round = t - 1
        user, items = env.next_user()
        if self._asks():
            user = policy.choose_user(range(env.n_users))  # type: ignore[attr-defined]
        ranking = policy.recommend(user, items, self.k)
        feedback = env.respond(user, ranking)
        policy.update(user, items[ranking], feedback)
        loss = env.regret(user, ranking)
        play.note(
            self.log,
            t,
            self._reward(feedback),
            math.nan if loss is None else loss,
            self._count_clusters(t),
        )
        self.user = user

    def _reward(self, feedback: Feedback) -> float:
        if isinstance(self.env, Table):
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
        ours = np.full(len(self.truth), -1)
        if isinstance(self.policy, CompiledPolicy):
            numbers = self.node if self.compiled else self.numbers()
            labels = self.policy.labels()
            ours[numbers >= 0] = labels[numbers[numbers >= 0]]
        else:
            for label, users in enumerate(self.policy.clusters()):  # type: ignore[attr-defined]
                ours[[user for user in users if user in range(len(ours))]] = label
        if not np.array_equal(ours, self.compared):
            met = ours >= 0
            self.index = adjusted_rand_index(ours[met], self.truth[met])
            self.compared = ours
        self.rand[(done - 1) // self.every] = self.index

    def numbers(self) -> Ints:
        """Return the policy's number of each user of the environment, -1 for strangers."""
        assert isinstance(self.policy, CompiledPolicy)
        return np.array([self.policy.number(user) for user in range(self.env.n_users)])

    def trace(self, seconds: float) -> Trace:
        """Gather what was written down."""
        known = not np.isnan(self.regret).any()
        return Trace(
            round=np.minimum(self.every * np.arange(1, len(self.reward) + 1), self.rounds),
            reward=self.reward,
            regret=self.regret if known else None,
            n_clusters=self.clusters,
            rand_index=self.rand if self.truth is not None else None,
            seconds=seconds,
        )


def adjusted_rand_index(ours: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Agreement of two partitions, given as the label of each member; 1 is perfect, 0 is chance.

    References
    ----------
    Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1], ["a", "a", "b"])
    1.0
    >>> round(adjusted_rand_index([0, 0, 1, 1], ["a", "b", "a", "b"]), 9)
    -0.5
    """

    def pairs_within(labels: Ints) -> float:
        counts = np.bincount(labels)
        return float((counts @ (counts - 1)) / 2)

    _, left = np.unique(np.asarray(ours), return_inverse=True)
    _, right = np.unique(np.asarray(true), return_inverse=True)
    if left.size == 0:
        return 1.0
    both = left * (right.max() + 1) + right
    if both.max() > 16 * both.size + 1024:  # too many possible pairs of labels to count each
        _, both = np.unique(both, return_inverse=True)
    together, in_ours, in_true = pairs_within(both), pairs_within(left), pairs_within(right)
    everything = left.size * (left.size - 1) / 2
    expected = in_ours * in_true / everything if everything else 0.0
    most = (in_ours + in_true) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)
