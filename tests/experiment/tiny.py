"""A tiny experiment that all tests of the rooms above the simulation share."""

from __future__ import annotations

from typing import Any

from clubcascade.experiment.config import parse
from clubcascade.experiment.schema import Experiment


def panel(title: str = "two clusters", **changes: Any) -> dict[str, Any]:
    parameters = {"n_users": 6, "n_clusters": 2, "n_items": 12, "n_features": 4, "gap": 0.5}
    return {"title": title, "environment": "synthetic", "parameters": parameters | changes}


def pool(clicks: str, title: str = "pool", **changes: Any) -> dict[str, Any]:
    parameters = {"clicks": clicks, "n_users": 6, "n_items": 12, "n_features": 4, "history": 5}
    return {"title": title, "environment": "pool", "parameters": parameters | changes}


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


def tuned_content() -> dict[str, Any]:
    """Two policies to be tuned, on two seeds of their own, and one that is not.

    Each has two values, and no budget to go beyond them.
    """
    club = policy("club_cascade", "CLUB", users="all", beta=1.0)
    return content(
        tune={"seeds": [50, 51], "rounds": 30, "budget": 2},
        policies=[
            club | {"tune": {"alpha": [0.1, 0.4]}},
            policy("c3_ucb", "C3") | {"tune": {"beta": [0.1, 1.0]}},
            policy("random", "random"),
        ],
    )


def parsed(table: dict[str, Any]) -> Experiment:
    return parse(table)


def experiment(**changes: Any) -> Experiment:
    return parse(content(**changes))


class InProcess:
    """Workers without processes, for what is not about processes: they take seconds to start."""

    def __init__(self, work: Any, jobs: int) -> None:
        self.work = work

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def prepare(self, work: Any, *arguments: Any) -> None:
        work(*arguments)

    def outcomes(self, tasks: Any) -> Any:
        for task in tasks:
            try:
                yield task, self.work(task)
            except Exception as error:
                yield task, error
