"""A tiny experiment that all tests of the rooms above the simulation share."""

from __future__ import annotations

from typing import Any

from clubcascade.experiment.config import Experiment, parse


def panel(title: str = "two clusters", **changes: Any) -> dict[str, Any]:
    parameters = {"n_users": 6, "n_clusters": 2, "n_items": 12, "n_features": 4, "gap": 0.5}
    return {"title": title, "environment": "synthetic", "parameters": parameters | changes}


def policy(name: str = "c3_ucb", label: str = "C3-UCB", **parameters: Any) -> dict[str, Any]:
    return {"policy": name, "label": label, "parameters": parameters}


def content(**changes: Any) -> dict[str, Any]:
    table = {
        "title": "tiny",
        "rounds": 60,
        "k": 2,
        "points": 20,
        "seeds": 2,
        "panels": [panel()],
        "policies": [
            policy("club_cascade", "CLUB", users="all", alpha=0.3, beta=1.0),
            policy("random", "random"),
        ],
    }
    return table | changes


def experiment(**changes: Any) -> Experiment:
    return parse(content(**changes))
