"""What every policy promises of its arithmetic: whatever is accepted, it stays finite."""

from __future__ import annotations

import math

import numpy as np

from clubcascade.checks._rounds import K
from clubcascade.core import Catalog, Policy
from clubcascade.errors import ClubCascadeError

EXTREMES = (5e-324, 1e-300, 1e-150, 1e-12, 1e-6, 1e6, 1e12, 1e150, 1e308)
"""Values of a parameter that arithmetic may not survive."""


def extremes_stay_finite(policy: Policy) -> None:
    """No accepted parameter and no accepted update makes the state other than finite."""
    _stay_finite(policy.fresh(), "as it is")
    for name, value in policy.params.items():
        for extreme in EXTREMES if type(value) is float else ():
            try:
                other = type(policy)(**policy.params | {name: extreme})
            except ClubCascadeError:
                continue
            _stay_finite(other, f"with {name}={extreme!r}")


def _stay_finite(policy: Policy, how: str) -> None:
    """Teach a policy what is hard for its arithmetic: items that are nearly one, and tiny ones."""
    d = policy.n_features or 3
    line = np.full((6, d), (1.0 - 1e-9) / math.sqrt(d))
    line[:, 0] -= np.array([0.0, 1e-15, 1e-9, 1e-6, 0.0, 0.0])
    line[4:] *= np.array([[1e-160], [1e-8]])
    catalog = Catalog(line)
    for turn in range(40):
        ranking = policy.recommend(turn % 3, catalog, K)
        assert len(set(ranking.tolist())) == K, f"{how}: a row twice in {ranking!r}"
        click = None if turn % 4 == 3 else turn % 4
        policy.update(turn % 3, catalog[np.roll(np.arange(6), turn)[:4]], click)
    for name, value in policy.state().items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), f"{how}: {name} is not finite"
    if hasattr(policy, "scores"):
        assert np.isfinite(policy.scores(0, catalog)).all(), f"{how}: scores are not finite"
