"""Results made by hand: two panels, two policies, three seeds, three rounds."""

from __future__ import annotations

from typing import Any

import pandas as pd

from clubcascade.experiment.results import Results
from tests.experiment import tiny


def results(scale: float = 2.0, **changes: Any) -> Results:
    experiment = tiny.experiment(
        panels=[tiny.panel("(a)"), tiny.panel("(b)")], seeds=3, rounds=3, **changes
    )
    rows = [
        {
            "panel": panel.title,
            "policy": contender.label,
            "seed": seed,
            "round": t,
            "reward": t,
            "regret": 10.0 * (seed + 1) * t * scale**i,
            "n_clusters": 1,
            "rand_index": 0.5,
        }
        for panel in experiment.panels
        for i, contender in enumerate(experiment.policies)
        for seed in experiment.seeds
        for t in (1, 2, 3)
    ]
    return Results(experiment, pd.DataFrame(rows))
