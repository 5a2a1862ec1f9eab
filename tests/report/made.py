"""Results made by hand, in memory and as folders."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec import structs

from clubcascade.experiment.config import parse
from clubcascade.experiment.results import Results, experiment_text
from clubcascade.experiment.schema import Experiment
from clubcascade.report.folders import Run
from tests.experiment import tiny

Values = Callable[[str, str, int, int], Mapping[str, float]]
"""The columns of one row, by panel, policy, seed and round; what is left out is unknown."""

LABELS = {
    "CLUB": {"policy": "club_cascade", "parameters": {"users": "all", "start": "random"}},
    "complete": {"policy": "club_cascade", "parameters": {"users": "all", "start": "complete"}},
    "C3": {"policy": "c3_ucb"},
    "LinUCB": {"policy": "cascade_lin_ucb"},
    "MultipleLinUCB": {"policy": "multiple_lin_ucb"},
    "Popular": {"policy": "popular"},
    "random": {"policy": "random"},
    "cohort": {"policy": "cohort_cascade"},
    "known clusters": {"policy": "known_clusters", "parameters": {"partition": "true"}},
}
"""The policies of the paper, under short names."""


def results(scale: float = 2.0, **changes: Any) -> Results:
    """Two panels, two policies, three seeds, three rounds."""
    panels = [tiny.panel("(a)"), tiny.panel("(b)")]
    experiment = tiny.experiment(**({"panels": panels, "seeds": 3, "rounds": 3} | changes))
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


def world(title: str, **parameters: Any) -> dict[str, Any]:
    """A synthetic panel."""
    sizes = {"n_users": 6, "n_clusters": 2, "n_items": 12, "n_features": 8, "gap": 0.5}
    return {"title": title, "environment": "synthetic", "parameters": sizes | parameters}


def replay(title: str, clicks: str, **parameters: Any) -> dict[str, Any]:
    """A panel on real data; the data themselves are not needed to read results."""
    sizes = {"clicks": clicks, "n_users": 40, "n_items": 200}
    return {"title": title, "environment": "pool", "parameters": sizes | parameters}


def experiment(
    panels: Sequence[Mapping[str, Any]],
    policies: Sequence[str] = ("CLUB", "C3", "LinUCB"),
    *,
    rounds: int = 100,
    seeds: int = 4,
    **changes: Any,
) -> Experiment:
    content = {
        "title": "made by hand",
        "rounds": rounds,
        "k": 2,
        "points": 20,
        "seeds": seeds,
        "panels": list(panels),
        "policies": [{"label": label, **LABELS[label]} for label in policies],
    }
    return parse(content | changes)


def noise(seed: int, label: str) -> float:
    """Noise that all policies of a seed share, and a little of the policy's own."""
    own = np.random.default_rng([seed, *label.encode()]).normal()
    return 1 + 0.03 * float(np.random.default_rng(seed).normal()) + 0.005 * float(own)


def curves(plan: Experiment, values: Values) -> pd.DataFrame:
    """The rows of an experiment, by a function of panel, policy, seed and round."""
    unknown = dict.fromkeys(("reward", "regret", "n_clusters", "rand_index"), np.nan)
    rounds = range(5, plan.rounds + 1, 5)
    return pd.DataFrame(
        [
            {
                "panel": panel.title,
                "policy": contender.label,
                "seed": seed,
                "round": t,
                **unknown,
                **values(panel.title, contender.label, seed, t),
            }
            for panel in plan.panels
            for contender in plan.policies
            for seed in plan.seeds
            for t in rounds
        ]
    )


def folder(place: Path, plan: Experiment, values: Values) -> Path:
    """A result folder."""
    return write(place, Results(plan, curves(plan, values)))


def write(place: Path, made: Results) -> Path:
    """The files of a result folder that a report reads."""
    place.mkdir(parents=True, exist_ok=True)
    made.curves.to_parquet(place / "results.parquet", index=False)
    (place / "config.toml").write_text(experiment_text(made.experiment), encoding="utf-8")
    origin = {"seeds": list(made.experiment.seeds), "commit": "0123456789abcdef", "cores": 2}
    (place / "provenance.json").write_text(json.dumps(origin), encoding="utf-8")
    return place


def run(place: Path, plan: Experiment, values: Values) -> Run:
    """What reading such a folder gives, without writing it."""
    return as_run(Results(plan, curves(plan, values)), place)


def as_run(found: Results, place: Path = Path("synthetic")) -> Run:
    """Results as if they had been read from a folder."""
    return Run(place, place.name, place.name.split("-")[0], found, {}, (), ())


def regrets(finals: Mapping[tuple[str, str], float]) -> Values:
    """Regret that grows evenly to a final value, by panel and policy."""

    def values(panel: str, label: str, seed: int, t: int) -> dict[str, float]:
        return {"regret": finals[panel, label] * t / 100 * noise(seed, label), "reward": 0.5 * t}

    return values


def rates(finals: Mapping[tuple[str, str], float], ceiling: float = 1.0) -> Values:
    """Clicks at an even rate, by panel and policy."""

    def values(panel: str, label: str, seed: int, t: int) -> dict[str, float]:
        rate = finals[panel, label] * noise(seed, label)
        return {"reward": rate * t, "regret": (ceiling - rate) * t, "ceiling": ceiling}

    return values


def without(whole: Run, gone: Callable[[pd.DataFrame], Any]) -> Run:
    """The same run, but for some rows."""
    rows = whole.results.curves
    kept = Results(whole.results.experiment, rows[~np.asarray(gone(rows))])
    return replace(whole, results=kept, _tables={})


def tuned(plan: Experiment) -> Experiment:
    """The same plan, in which CLUB and C3 were tuned in the first panel."""
    values = {"CLUB": {"reg": 0.1}, "C3": {"reg": 1.0}}
    first = structs.replace(plan.panels[0], tuned=values)
    return structs.replace(plan, panels=(first, *plan.panels[1:]))


def write_tuning(place: Path) -> None:
    """The table of what tuning tried in ``(a)``: the best value of CLUB is at the edge."""
    lines = [
        "panel,policy,values,by,mean,seeds,chosen,edge",
        "(a),CLUB,reg=0.1,regret,1.0,2,True,reg low",
        "(a),CLUB,reg=1.0,regret,2.0,2,False,",
        "(a),C3,reg=1.0,regret,1.0,2,True,",
    ]
    place.mkdir(parents=True, exist_ok=True)
    (place / "tuning.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")


def sweep() -> Experiment:
    """CLUB-cascade over three alphas and three betas, its limits, and a policy beside them."""
    betas = {"beta": [0.1, 0.3, 1.0]}
    swept = [
        tiny.policy("club_cascade", "CLUB", users="all")
        | {"sweep": {"alpha": [0.5, 1.0, 2.0]} | betas},
        tiny.policy("c3_ucb", "C3") | {"sweep": betas},
        tiny.policy("multiple_lin_ucb", "Multiple") | {"sweep": betas},
        tiny.policy("cohort_cascade", "cohort"),
    ]
    return tiny.experiment(policies=swept, rounds=100)
