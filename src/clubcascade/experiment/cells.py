"""One cell = one policy on one environment with one seed: which there are, and their names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from clubcascade.experiment.placeholders import timed
from clubcascade.experiment.schema import Contender, Experiment, Panel
from clubcascade.experiment.sources import sources_of

RESULTS_FORMAT = 2
"""Number of the format of the result files."""


@dataclass(frozen=True)
class Cell:
    """One run of an experiment."""

    panel: Panel
    contender: Contender
    seed: int
    rounds: int
    k: int
    every: int
    data: str | None = None
    """Fingerprint of the panel's data set, if it has one."""
    trial: str = ""
    """What is tried, where this is a run for tuning."""

    @property
    def name(self) -> str:
        """What people call the cell."""
        parts = [self.panel.title, self.contender.label, self.trial, f"seed {self.seed}"]
        return ", ".join(part for part in parts if part)

    @cached_property
    def world(self) -> str:
        """All that the environment depends on, as text."""
        parameters = self.panel.parameters
        if self.data is not None:
            parameters = {**parameters, "clicks": self.data}
        return json.dumps([self.panel.environment, parameters, self.seed], sort_keys=True)

    @cached_property
    def key(self) -> str:
        """What the cell's file is called; see :meth:`hashed`."""
        return self.hashed()

    def hashed(self) -> str:
        """Return a hash of all that the result depends on.

        Titles, labels and the names of data sets are not part of it; the content of data sets, the
        format, the version and the sources that the run goes through are, so that a changed
        algorithm never passes off an old result as its own.
        """
        content = {
            "format": RESULTS_FORMAT,
            "version": _version(),
            "sources": self._sources(),
            "world": self.world,
            "policy": [self.contender.policy, self.contender.parameters],
            "run": [self.rounds, self.k, self.every],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]

    def _sources(self) -> str:
        """Hash the sources that the run goes through, those of a policy inside among them."""
        name, inner = self.contender.policy, self.contender.parameters.get("policy")
        hashed = sources_of(name, self.panel.environment)
        while isinstance(inner, Mapping):
            hashed += sources_of(inner["name"], self.panel.environment)
            inner = inner.get("policy")
        return hashed

    @property
    def effort(self) -> float:
        """Roughly how long the cell takes, compared with others."""
        items = self.panel.parameters.get("n_items", 0)
        return self.rounds * (1.0 + (items if isinstance(items, int) else 0) / 500.0)


@cache
def _version() -> str:
    return version("clubcascade")


class Seeds(NamedTuple):
    """The seeds of a cell: of the environment, of arrivals and clicks, of the policy's draws."""

    environment: int
    simulation: int
    policy: int

    @classmethod
    def of(cls, seed: int) -> Seeds:
        """Derive them from the seed of the cell: the same ones whatever the policy is."""
        return cls(*(int(word) for word in np.random.SeedSequence(seed).generate_state(3)))


def plan(experiment: Experiment, data: Mapping[str, str] | None = None) -> list[Cell]:
    """List the cells: by panel, then policy, then seed.

    Policies that are to be tuned are left out of panels where that has not been done yet.

    ``data`` are the fingerprints of the data sets that its panels name. Without them the cells have
    names, but cannot be run or found.
    """
    cells = []
    for panel in experiment.panels:
        for contender in experiment.policies_of(panel):
            if contender.label in panel.tuned:
                contender = contender.at(panel.tuned[contender.label])
            if not contender.tune:
                cells += [
                    _cell(experiment, panel, contender, seed, data) for seed in experiment.seeds
                ]
    return cells


def trials(
    experiment: Experiment,
    panel: Panel,
    contender: Contender,
    data: Mapping[str, str] | None,
    point: Mapping[str, Any],
) -> list[Cell]:
    """List the runs for tuning of one point of a policy in a panel, by seed."""
    tune = experiment.tune
    text, at = values_text(point), contender.at(point)
    return [_cell(experiment, panel, at, seed, data, text) for seed in (tune.seeds if tune else ())]


def values_text(point: Mapping[str, Any]) -> str:
    """Say the values of a point.

    >>> values_text({"alpha": 0.5, "reg": 1})
    'alpha=0.5, reg=1'
    """
    return ", ".join(f"{name}={value}" for name, value in point.items())


def _cell(
    experiment: Experiment,
    panel: Panel,
    contender: Contender,
    seed: int,
    data: Mapping[str, str] | None,
    trial: str = "",
) -> Cell:
    rounds = experiment.rounds_of(panel)
    longest = experiment.tune.rounds if trial and experiment.tune else None
    if longest is not None:
        rounds = min(rounds, longest if isinstance(longest, int) else math.ceil(longest * rounds))
    every = rounds if trial else experiment.step(rounds)  # of a trial only the end counts
    panel = replace(panel, parameters=timed(panel.parameters, rounds))
    fingerprint = (data or {}).get(str(panel.parameters.get("clicks")))
    return Cell(panel, contender, seed, rounds, experiment.k_of(panel), every, fingerprint, trial)
