"""One cell = one policy on one environment with one seed: what it is called, and how it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from clubcascade.core import Environment, Policy
from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import ClubCascadeError, InvalidConfig
from clubcascade.experiment.config import Contender, Experiment, Panel
from clubcascade.experiment.parameters import accepted
from clubcascade.experiment.sources import sources
from clubcascade.policies import POLICIES
from clubcascade.simulation import Trace, simulate

RESULTS_FORMAT = 1
"""Number of the format of the result files."""

WARMING_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of an experiment."""

    panel: Panel
    contender: Contender
    seed: int
    rounds: int
    k: int
    every: int

    @property
    def name(self) -> str:
        """What people call the cell."""
        return f"{self.panel.title}, {self.contender.label}, seed {self.seed}"

    @property
    def key(self) -> str:
        """What the cell's file is called: a hash of all that the result depends on.

        Titles and labels are not part of it; the format, the version and the sources are, so that
        a changed algorithm never passes off an old result as its own.
        """
        content = {
            "format": RESULTS_FORMAT,
            "version": version("clubcascade"),
            "sources": sources(),
            "environment": [self.panel.environment, self.panel.parameters],
            "policy": [self.contender.policy, self.contender.parameters],
            "run": [self.seed, self.rounds, self.k, self.every],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


class Seeds(NamedTuple):
    """The seeds of a cell: of the world, of who comes and clicks, of the policy's own draws."""

    world: int
    luck: int
    policy: int

    @classmethod
    def of(cls, seed: int) -> Seeds:
        """Derive them from the seed of the cell: the same ones whatever the policy is.

        >>> Seeds.of(7) == Seeds.of(7), len(set(Seeds.of(7)))
        (True, 3)
        """
        return cls(*(int(word) for word in np.random.SeedSequence(seed).generate_state(3)))


def plan(experiment: Experiment) -> list[Cell]:
    """List the cells: by panel, then policy, then seed."""
    return [
        Cell(panel, contender, seed, experiment.rounds, experiment.k, experiment.every)
        for panel in experiment.panels
        for contender in experiment.policies
        for seed in experiment.seeds
    ]


def build(cell: Cell) -> tuple[Policy, Environment]:
    """Make the environment and the policy of a cell; a wrong parameter is an InvalidConfig."""
    seeds = Seeds.of(cell.seed)
    env = _make(
        f"panel {cell.panel.title!r}",
        ENVIRONMENTS[cell.panel.environment],
        cell.panel.parameters,
        {"seed": seeds.world},
    )
    where = f"policy {cell.contender.label!r}"
    policy = _make(
        where,
        POLICIES[cell.contender.policy],
        _named_values(where, cell.contender.parameters, env),
        {"seed": seeds.policy, "n_features": env.n_features},
    )
    return policy, env


def run(cell: Cell) -> Trace:
    """Run a cell; it is recorded at least every ``every`` rounds, and at the last."""
    policy, env = build(cell)
    luck = Seeds.of(cell.seed).luck
    every = recorded(cell.rounds, cell.every)
    return simulate(policy, env, rounds=cell.rounds, k=cell.k, seed=luck, every=every)


def recorded(rounds: int, every: int) -> int:
    """Return the largest step up to ``every`` that ends at the last of ``rounds``.

    >>> recorded(100_000, 500), recorded(1_000, 30), recorded(997, 30)
    (500, 25, 1)
    """
    return next(step for step in range(every, 0, -1) if rounds % step == 0)


def warm_up(cells: Iterable[Cell]) -> None:
    """Take a few rounds of every kind of run, so that all of its code is compiled and on disk.

    What cannot be built is raised as InvalidConfig. What fails while it runs is left to the
    cell itself, which reports it.
    """
    seen: list[tuple[Panel, Contender]] = []
    for cell in cells:
        kind = (cell.panel, cell.contender)
        if kind in seen:
            continue
        seen.append(kind)
        try:
            policy, env = build(cell)
            simulate(policy, env, rounds=WARMING_ROUNDS, k=cell.k, seed=0)
        except InvalidConfig:
            raise
        except Exception:
            continue  # the cell itself reports it, with its name


def _make(where: str, cls: type, parameters: dict[str, Any], derived: dict[str, Any]) -> Any:
    known = accepted(cls)
    extra = {name: value for name, value in derived.items() if name in known}
    try:
        return cls(**(extra | parameters))
    except (ClubCascadeError, TypeError, ValueError) as error:
        raise InvalidConfig(f"{where}: {error}") from error


def _named_values(where: str, parameters: dict[str, Any], env: Any) -> dict[str, Any]:
    values = dict(parameters)
    if values.get("users") == "all":
        values["users"] = range(env.n_users)
    if values.get("partition") == "true":
        if getattr(env, "partition", None) is None:
            raise InvalidConfig(f"{where}: partition = 'true', but the true clusters are unknown")
        values["partition"] = env.partition
    return values
