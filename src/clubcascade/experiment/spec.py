"""An experiment as data: frozen dataclasses, which are read from TOML and written as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clubcascade.experiment.parameters import Parameters

SHOWN = ("regret", "reward", "missed", "ctr", "rand_index", "n_clusters")
"""What the panels of a figure can show: expected loss against the best lists; clicks; clicks that
the best lists would have had; share of rounds with a click; how well the clusters agree with the
true ones; how many clusters there are."""

Grid = Mapping[str, tuple[Any, ...]]

BUDGET = 48
"""How many points a tuned policy may try in a panel where the file does not say."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture of a figure: an environment, the same for every policy.

    Parameters
    ----------
    title
        Stands above the picture.
    environment, parameters
        Name and parameters of the environment.
    rounds, k
        Length of the runs and of the lists here; None: as in the rest of the experiment.
    policies
        Labels of the policies that run here; None: all.
    tuned
        By label: the values of tuned parameters to use here. Policies that are named are not
        tuned again.
    """

    title: str
    environment: str
    parameters: Parameters
    rounds: int | None = None
    k: int | None = None
    policies: tuple[str, ...] | None = None
    tuned: Mapping[str, Parameters] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contender:
    """One line of every picture: a policy of the registry with its parameters.

    ``users = "all"`` stands for all users of the environment, ``partition = "true"`` for its
    true clusters.

    Parameters
    ----------
    label
        What the line is called.
    policy, parameters
        Name and parameters of the policy.
    tune
        A line of values to try for some of the parameters; empty: nothing is tuned.
    """

    label: str
    policy: str
    parameters: Parameters
    tune: Grid = field(default_factory=dict)

    def at(self, point: Mapping[str, Any]) -> Contender:
        """Return this policy with the values of a point, and nothing to tune."""
        return Contender(self.label, self.policy, {**self.parameters, **point})


@dataclass(frozen=True, slots=True)
class Tune:
    """How tuned parameters are chosen: on seeds of their own, with one budget for all.

    Parameters
    ----------
    seeds
        Seeds of the tuning runs, none of them a seed of the experiment.
    rounds
        Longest tuning run; None: as long as the runs themselves.
    budget
        How many points a policy may try in a panel.
    """

    seeds: tuple[int, ...]
    rounds: int | None = None
    budget: int = BUDGET


@dataclass(frozen=True, slots=True)
class Experiment:
    """Panels x policies x seeds, and how long each of these cells runs.

    Parameters
    ----------
    title
        What the figure shows.
    figure
        Number of the paper's figure, or None.
    rounds
        Rounds of a run.
    k
        Length of the lists.
    points
        Points of a curve: a run is recorded every ``rounds // points`` rounds.
    seeds
        One run of every policy on every panel for each of these.
    panels, policies
        What is crossed with the seeds.
    measure
        What the panels show, one of :data:`SHOWN`.
    tune
        How tuned parameters are chosen; None where nothing is tuned.
    full_rounds, full_seeds
        The rounds of the longest panel and the number of seeds that the experiment file asks for,
        whatever ``--quick``, ``--rounds`` or ``--seeds`` made of them; None: as many as here.
    """

    title: str
    figure: int | None
    rounds: int
    k: int
    points: int
    seeds: tuple[int, ...]
    panels: tuple[Panel, ...]
    policies: tuple[Contender, ...]
    measure: str = "regret"
    tune: Tune | None = None
    full_rounds: int | None = None
    full_seeds: int | None = None

    @property
    def longest(self) -> int:
        """Rounds of the longest runs."""
        return max(self.rounds_of(panel) for panel in self.panels)

    @property
    def first_look(self) -> bool:
        """Whether this is less than the experiment file asks for: fewer rounds or seeds."""
        return self.longest < (self.full_rounds or 0) or len(self.seeds) < (self.full_seeds or 0)

    @property
    def every(self) -> int:
        """Rounds between two points of a curve, where a panel has no rounds of its own."""
        return self.step(self.rounds)

    def step(self, rounds: int) -> int:
        """Rounds between two points of a curve of that many rounds."""
        return max(1, rounds // self.points)

    def rounds_of(self, panel: Panel) -> int:
        """Rounds of the runs of a panel."""
        return self.rounds if panel.rounds is None else panel.rounds

    def k_of(self, panel: Panel) -> int:
        """Length of the lists of a panel."""
        return self.k if panel.k is None else panel.k

    def policies_of(self, panel: Panel) -> tuple[Contender, ...]:
        """The policies that run on a panel, in the order of the experiment."""
        if panel.policies is None:
            return self.policies
        return tuple(c for c in self.policies if c.label in panel.policies)
