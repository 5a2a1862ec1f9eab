"""The scores that the service tells are those of the policy itself."""

import numpy as np
import pytest

from clubcascade.core import Catalog
from clubcascade.policies import POLICIES
from tests.service.shops import ITEMS, NAMES, D, shop

EXAMPLES = [
    pytest.param(policy, id=f"{name}-{number}")
    for name, kind in POLICIES.items()
    for number, policy in enumerate(kind.examples())
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_scores_are_those_of_the_policy(example, tmp_path):
    policy = example.fresh()
    assert policy.n_features in (None, D)
    users = [*(getattr(policy, "users", None) or range(3)), 3]
    rng = np.random.default_rng(2)
    with shop(tmp_path, policy=policy, n_features=policy.n_features) as s:
        s.register_items(NAMES, ITEMS)
        kept = s.model().policy
        for turn in range(60):
            user = users[turn % len(users)]
            loose = turn % 2 == 0 and policy.n_features is not None
            offered = {"items": ITEMS, "ids": NAMES} if loose else {}
            decision = s.recommend(user, 4, **offered)
            rows = [NAMES.index(item) for item in decision.items]
            if hasattr(kept, "scores"):
                wanted = kept.scores(user, Catalog(ITEMS, NAMES))[rows]
                assert decision.scores == pytest.approx(wanted, abs=1e-12)
            else:
                assert decision.scores is None
            s.feedback(decision.id, [None, 0, 1, 2][rng.integers(4)])
