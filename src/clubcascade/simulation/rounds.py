"""Let a policy serve an environment's users, round after round."""

import math
import time
from collections.abc import Callable

from clubcascade import validation
from clubcascade.core import Environment, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.simulation.run import Simulation
from clubcascade.simulation.trace import Trace

MOST_ENTRIES = 1_000_000
"""Entries of a trace when ``every`` is left out: memory stays bounded in long runs."""


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

    One seed gives every policy the same arrivals and random numbers. Policies of the package run
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
    >>> import numpy as np
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
    check_environment(env)
    if policy is not None:
        example = "None or a policy, such as clubcascade.CohortCascade(...)"
        _check_has("policy", policy, example, ["recommend", "update"])
    rounds = validation.whole("rounds", rounds, low=1)
    if every is None:
        every = math.ceil(rounds / MOST_ENTRIES)
    every = validation.whole("every", every, low=1, high=rounds)
    k = validation.list_length(k, getattr(env, "n_items", k))
    env.reset(validation.whole("seed", seed, low=0))
    if policy is None:
        policy = CohortCascade(n_features=env.n_features, seed=seed)
    simulation = Simulation(policy, env, rounds, k, every)
    started = time.perf_counter()
    simulation.run(progress)
    return simulation.trace(time.perf_counter() - started)


def check_environment(env: object) -> None:
    """Raise unless ``env`` has all of the interface of environments."""
    calls = (name for name in vars(Environment) if not name.startswith("_"))
    example = "an environment, such as clubcascade.environments.Synthetic(...)"
    _check_has("env", env, example, [*Environment.__annotations__, *calls])


def _check_has(name: str, value: object, example: str, required: list[str]) -> None:
    missing = [one for one in required if not hasattr(value, one)]
    if isinstance(value, type) or missing:
        lacks = f", which lacks {', '.join(missing)}" if missing else ""
        raise InvalidArgument(
            f"{name} must be {example}, with {', '.join(required)}; got {value!r}{lacks}"
        )
