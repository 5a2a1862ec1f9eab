"""What every policy, environment and click model promises, as checks that anyone can run.

>>> import clubcascade as cc
>>> from clubcascade.checks import check_policy
>>> check_policy(cc.MultipleLinUCB(n_features=3))
"""

from clubcascade.checks.environments import (
    CLICK_MODEL_CHECKS,
    ENVIRONMENT_CHECKS,
    check_click_model,
    check_environment,
)
from clubcascade.checks.policies import POLICY_CHECKS, check_policy

__all__ = [
    "CLICK_MODEL_CHECKS",
    "ENVIRONMENT_CHECKS",
    "POLICY_CHECKS",
    "check_click_model",
    "check_environment",
    "check_policy",
]
