"""From what a caller names to a policy; whether two policies were made alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies import policy_class

DEFAULT_POLICY = "club_cascade"
"""The policy of a model for which none is named."""


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
    try:
        return kind() if n_features is None else kind(n_features=n_features)  # type: ignore[call-arg]
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
