"""Line 10 is decided in double precision, however near to the threshold users are."""

from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.core.state import same
from clubcascade.kernels import edge_deletion

N, D = 400, 7


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(
    ("norm", "distance"),
    [(0.0, 1.0), (0.0, 300.0), (1.0, 0.2), (50.0, 0.1), (1000.0, 0.05)],
    ids=["at zero", "far", "usual", "large weights", "huge weights"],
)
def test_nobody_near_the_threshold_is_lost(dense, norm, distance):
    """Single precision finds them about half the time: half a digit beyond its last one."""
    rng = np.random.default_rng(7)
    own = rng.standard_normal(D)
    own *= norm / np.linalg.norm(own)
    direction = rng.standard_normal((N, D))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radii = rng.uniform(0.1, 1.0, N + 1)
    alpha = distance
    bar = alpha * (radii[0] + radii[1:])
    beyond = rng.choice([-1.0, 1.0], N) * 10.0 ** rng.uniform(-9, -3, N)
    others = own + direction * (bar * (1.0 + beyond))[:, None]
    exact = np.linalg.norm(own - others, axis=1) >= bar
    assert 0.4 * N < exact.sum() < 0.6 * N
    start = {"start": "complete"} if dense else {"start": "random", "edge_probability": 1.0}
    policy = cc.ClubCascade(n_features=D, users=range(N + 1), alpha=alpha, **start)
    arrays = policy._learner.users.arrays
    arrays["weights"][: N + 1] = np.vstack([own, others])
    arrays["radius"][: N + 1] = radii
    for node in range(N + 1):
        edge_deletion.publish(policy.compiled, node)
    edge_deletion.delete_far_edges(policy.compiled, 0)
    left = set(policy._learner.graph.neighbours(0).tolist())
    assert left == {1 + i for i in np.flatnonzero(~exact).tolist()}


def test_nobody_in_a_block_that_is_left_out_is_too_far():
    """Learned with and without the bounds of blocks: the same edges, and the same everything."""
    n, rng = 200, np.random.default_rng(2)
    items = rng.standard_normal((50, 4))
    catalog = cc.Catalog(items / np.linalg.norm(items, axis=1, keepdims=True))
    bounded, unbounded = (cc.ClubCascade(n_features=4, users=range(n), alpha=0.3) for _ in range(2))
    arrays, left_out = bounded._learner.users.arrays, 0
    for _ in range(1500):
        user, click = int(rng.integers(n)), int(rng.integers(4))
        shown = catalog[rng.permutation(50)[:4]]
        unbounded._learner.users.arrays["largest_norm"][:] = np.inf
        bounded.update(user, shown, click)
        unbounded.update(user, shown, click)
        farthest = np.linalg.norm(arrays["weights"][user]) + arrays["largest_norm"]
        threshold = 0.3 * (arrays["radius"][user] + arrays["smallest_radius"])
        left_out += int((1.001 * farthest < threshold).sum())
    state = bounded.state()
    assert same(state, unbounded.state())
    assert left_out > 100 and bounded._learner.graph.arrays["degree"][:n].sum() < 0.8 * n * (n - 1)
    loaded = bounded.fresh()
    loaded.load_state(state)
    bounds = loaded._learner.users.arrays
    assert (bounds["largest_norm"] <= arrays["largest_norm"] * (1 + 1e-12)).all()
    np.testing.assert_array_equal(bounds["smallest_radius"], arrays["smallest_radius"])
