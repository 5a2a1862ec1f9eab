"""Every policy of the registry x its examples x every promise."""

import pytest

from clubcascade.checks import POLICY_CHECKS
from clubcascade.policies import POLICIES

CASES = [
    pytest.param(policy, check, id=f"{name}-{number}-{check.__name__}")
    for name, kind in POLICIES.items()
    for number, policy in enumerate(kind.examples())
    for check in POLICY_CHECKS
]


@pytest.mark.parametrize(("policy", "check"), CASES)
def test_promise(policy, check):
    check(policy.fresh())
