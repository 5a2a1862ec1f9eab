"""Policies that can start from sums of clicks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.kernels import bulk, ridge
from clubcascade.learners import warm_start as learners
from clubcascade.learners.grouped import GroupedModels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies.c3_ucb import C3UCB
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.policies.known_clusters import KnownClusters
from clubcascade.policies.multiple_lin_ucb import MultipleLinUCB

WARM = (CohortCascade, MultipleLinUCB, C3UCB)


def start_from_sums(
    policy: Policy,
    users: Sequence[Hashable],
    sums: learners.Sums,
    *,
    clicks: float,
    losses: Mapping[int, float] | None = None,
    seed: int = 0,
) -> None:
    """Let a policy that has learned nothing take over the sums of users.

    Parameters
    ----------
    policy
        A ``CohortCascade`` with the identity link, a ``MultipleLinUCB`` or a ``C3UCB``.
    users
        The users, in the order of the sums.
    sums
        Gram matrices, moments and numbers of observations, some users at a time.
    clicks
        The number of clicks in all: the sum of the squared outcomes.
    losses
        For ``CohortCascade``: the share by which each predictor is worse than the best one.
    seed
        Seed of the order in which users are assigned to cohorts.
    """
    check_can_start(policy)
    assert isinstance(policy, CompiledPolicy)
    with policy._lock:
        policy._join_many(users)
        if isinstance(policy._learner, GroupedModels):
            learners.fill_groups(policy._learner, sums)
            return
        assert isinstance(policy, CohortCascade)
        learner = policy._cohorts
        n_users = learners.fill_users(learner, sums)
        learners.assign_cohorts(learner, n_users, clicks, seed)
        if losses:
            learners.select_predictor(learner, n_users, losses)


def check_can_start(policy: Policy) -> None:
    """Raise unless a policy can start from sums, and has learned nothing."""
    names = ", ".join(kind.__name__ for kind in WARM)
    if type(policy) not in WARM:
        raise InvalidArgument(
            f"policy must be one that starts from clicks without lists: {names}; got "
            f"{type(policy).__name__}"
        )
    if getattr(policy, "link", "identity") != "identity":
        raise InvalidArgument(
            "policy must have the identity link to start from clicks, got logistic"
        )
    assert isinstance(policy, CompiledPolicy)
    if policy.users:
        raise InvalidArgument(f"policy must have learned nothing, got {len(policy.users)} users")


def learns_sums(policy: Policy) -> bool:
    """Tell whether the order of lists of different users does not matter to a policy.

    True for linear models of a fixed partition of the users, and for the users' sums of
    ``CohortCascade``, if nothing is forgotten and the policy has learned nothing yet.
    """
    if type(policy) not in (*WARM, KnownClusters):
        return False
    plain = getattr(policy, "link", "identity") == "identity" and not any(
        getattr(policy, name, None) for name in ("discounts", "forget")
    )
    return plain and not _sums_of(policy)[2].any()


def _sums_of(policy: Any) -> tuple[Floats, Floats, Ints]:
    """Return the arrays of a policy's sums: Gram matrices, moments, counts."""
    cohorts = isinstance(policy, CohortCascade)
    a = policy._cohorts.arrays if cohorts else policy._learner.models.arrays
    return a["gram"], a["moment"], a["count"]


class BulkSums:
    """A policy that takes a log as sums of users, chunk by chunk: a context manager.

    At the end models and cohorts are made from the sums. If something fails before, the policy is
    as it was.

    Parameters
    ----------
    policy
        One that :func:`learns_sums`.
    workers
        Threads that add up. The result is the same for any number.
    seed
        Seed of the order in which users are assigned to cohorts.
    """

    def __init__(self, policy: Any, workers: int = 1, seed: int = 0) -> None:
        self.policy, self.workers, self.seed, self.clicks = policy, workers, seed, 0.0
        self._pool = ThreadPoolExecutor(workers)

    def __enter__(self) -> BulkSums:
        self.policy._lock.__enter__()
        return self

    def add(
        self,
        users: Sequence[Hashable],
        user: Ints,
        lists: tuple[Ints, Ints, Ints, Floats, Floats],
    ) -> None:
        """Add lists: whose they are, as places in ``users``; starts, rows, and so on."""
        models, place = np.unique(self._models_of(users), return_inverse=True)
        starts, rows, examined, rewards, features = lists
        first, row, reward = bulk.group_observations(
            place[user], len(models), starts, rows, examined, rewards
        )
        parts = np.searchsorted(first, np.linspace(0, first[-1], self.workers + 1)[1:-1])
        sums = _sums_of(self.policy)

        def add(low: int, high: int) -> None:
            bulk.add_observations(models, first, row, reward, features, low, high, *sums)

        self._in_parts(len(models), parts, add)
        self.clicks += float(rewards.sum())

    def _models_of(self, users: Sequence[Hashable]) -> Ints:
        """Return whose sums those of some users are; new users join."""
        numbers: Ints = self.policy._numbers_joined(users)
        learner = self.policy._learner
        return learner.group[numbers] if isinstance(learner, GroupedModels) else numbers

    def _in_parts(self, n: int, parts: Ints, work: Callable[[int, int], None]) -> None:
        """Do some work on 0 to n - 1, each thread from one place to the next."""
        ends = [0, *parts.tolist(), n]
        for done in [self._pool.submit(work, *part) for part in pairwise(ends)]:
            done.result()

    def __exit__(self, kind: Any, *_: Any) -> None:
        policy = self.policy
        try:
            if kind is not None:
                policy._take_over(policy.fresh())
                return
            if isinstance(policy, CohortCascade):
                n = len(policy._numbers)
                learners.find_cohorts(policy._cohorts, n, self.clicks, self.seed)
            else:
                models, n = policy._learner.models.struct, policy._learner.n_models
                parts = np.arange(1, self.workers) * n // self.workers
                self._in_parts(n, parts, partial(ridge.renew_many, models))
        finally:
            self._pool.shutdown()
            policy._lock.__exit__(None, None, None)
