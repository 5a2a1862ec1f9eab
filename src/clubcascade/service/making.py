"""From what a caller names to a policy; whether two policies were made alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies import policy_class
from clubcascade.policies.cohort_cascade import CohortCascade

DEFAULT_POLICY = "cohort_cascade"
"""The policy of a model for which none is named."""
ROOM = 2**28
"""Bytes that the cohorts of a model may take, where their number is not given."""
MOST_COHORTS = 256


def make_policy(policy: Policy | str | None, n_features: int | None) -> Policy:
    """Return the policy that was given, or make the one that was named."""
    if isinstance(policy, Policy):
        if n_features not in (None, policy.n_features):
            raise InvalidArgument(
                f"n_features must be that of the policy, {policy.n_features}, got {n_features!r}"
            )
        return policy
    if not isinstance(policy, str | None):
        raise InvalidArgument(f"policy must be a policy or the name of one, got {policy!r}")
    kind = policy_class(policy or DEFAULT_POLICY)
    params = {} if n_features is None else {"n_features": n_features}
    try:
        return kind(**sized(kind, params))
    except TypeError as error:
        raise InvalidArgument(
            f"policy must be one that n_features alone makes, got {policy!r}: {error}"
        ) from None


def made_alike(left: Policy, right: Policy) -> bool:
    """Tell whether two policies are of one kind and have the same parameters.

    >>> from clubcascade.policies.c3_ucb import C3UCB
    >>> made_alike(C3UCB(n_features=2), C3UCB(n_features=2)), made_alike(
    ...     C3UCB(n_features=2), C3UCB(n_features=3)
    ... )
    (True, False)
    """
    return type(left) is type(right) and _equal(left.params, right.params)


def _equal(left: Any, right: Any) -> bool:
    """Compare parameters, among which may be arrays: partitions, tables of links."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return bool(np.array_equal(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def sized(kind: type[Policy], params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with as many cohorts as long vectors leave room for.

    >>> sized(CohortCascade, {"n_features": 20}), sized(CohortCascade, {"n_features": 1000})
    ({'n_features': 20}, {'n_features': 1000, 'max_cohorts': 8})
    """
    d = params.get("n_features")
    if kind is not CohortCascade or "max_cohorts" in params or type(d) is not int or d < 1:
        return params
    most = max(ROOM // (4 * 8 * d * d), 1)
    return params if most >= MOST_COHORTS else params | {"max_cohorts": most}
