"""From what a caller names to a policy."""

from __future__ import annotations

from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies import policy_class

DEFAULT_POLICY = "cohort_cascade"
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
