"""An experiment as data: a TOML file, read into frozen dataclasses. An unknown key is an error."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import InvalidConfig, UnknownName, unknown_name
from clubcascade.experiment.parameters import Parameters, complete
from clubcascade.experiment.table import Table
from clubcascade.policies import POLICIES

POINTS = 200
"""How many points a curve has where the file does not say."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture of a figure: an environment, the same for every policy."""

    title: str
    environment: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Contender:
    """One line of every picture: a policy of the registry with its parameters.

    ``users = "all"`` stands for all users of the environment, ``partition = "true"`` for its
    true clusters.
    """

    label: str
    policy: str
    parameters: Parameters


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
    """

    title: str
    figure: int | None
    rounds: int
    k: int
    points: int
    seeds: tuple[int, ...]
    panels: tuple[Panel, ...]
    policies: tuple[Contender, ...]

    @property
    def every(self) -> int:
        """Rounds between two points of a curve."""
        return max(1, self.rounds // self.points)


def shipped() -> dict[str, Traversable]:
    """Return the experiment files that come with the package, by name.

    >>> sorted(shipped())
    ['synthetic']
    """
    folder = resources.files("clubcascade.experiment") / "figures"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {f.name.removesuffix(".toml"): f for f in files if f.name.endswith(".toml")}


def read_experiment(
    source: str | os.PathLike[str] | Traversable,
    *,
    quick: bool = False,
    rounds: int | None = None,
    seeds: int | None = None,
) -> Experiment:
    """Read an experiment file, or a shipped one by its name.

    Parameters
    ----------
    source
        Path of a TOML file, or a name of :func:`shipped`.
    quick
        Let the file's ``[quick]`` table replace its rounds and seeds.
    rounds, seeds
        Replace the file's number of rounds and number of seeds, also those of ``[quick]``.

    Examples
    --------
    >>> experiment = read_experiment("synthetic", rounds=1000, seeds=3)
    >>> experiment.figure, experiment.rounds, experiment.seeds, len(experiment.panels)
    (1, 1000, (0, 1, 2), 4)
    """
    file = _file(source)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"{file.name} is not a TOML file: {error}") from None
    changes = {"rounds": rounds, "seeds": seeds}
    given = {key: value for key, value in changes.items() if value is not None}
    try:
        return parse(content, quick=quick, changes=given)
    except InvalidConfig as error:
        raise InvalidConfig(f"{file.name}: {error}") from None


def parse(
    content: Mapping[str, Any], *, quick: bool = False, changes: Mapping[str, Any] | None = None
) -> Experiment:
    """Read an experiment from the tables of its file."""
    top = Table(
        content,
        "",
        required=["title", "rounds", "k", "seeds", "panels", "policies"],
        optional=["figure", "points", "quick"],
    )
    length: dict[str, Any] = {"rounds": top.whole("rounds"), "seeds": top.seeds("seeds")}
    length |= _quick(top, wanted=quick)
    length |= _length(Table(changes or {}, "", required=(), optional=["rounds", "seeds"]))
    panels = tuple(_panel(where, table) for where, table in top.tables("panels"))
    policies = tuple(_contender(where, table) for where, table in top.tables("policies"))
    _check_distinct("panels", "title", [panel.title for panel in panels])
    _check_distinct("policies", "label", [contender.label for contender in policies])
    return Experiment(
        title=top.text("title"),
        figure=top.whole("figure") if "figure" in top else None,
        rounds=length["rounds"],
        k=top.whole("k"),
        points=top.whole("points") if "points" in top else POINTS,
        seeds=length["seeds"],
        panels=panels,
        policies=policies,
    )


def _file(source: str | os.PathLike[str] | Traversable) -> Traversable:
    if isinstance(source, Traversable) and not isinstance(source, str):
        return source
    known = shipped()
    name = os.fspath(source)
    if name in known:
        return known[name]
    if isinstance(source, str) and not name.endswith(".toml"):
        raise unknown_name("experiment", name, known)
    return Path(name)


def _quick(top: Table, *, wanted: bool) -> dict[str, Any]:
    if "quick" not in top:
        if wanted:
            raise InvalidConfig("no [quick] table, which a quick run needs")
        return {}
    quick = Table(top.content["quick"], "quick", required=(), optional=["rounds", "seeds"])
    changes = _length(quick)
    return changes if wanted else {}


def _length(table: Table) -> dict[str, Any]:
    read = {"rounds": table.whole, "seeds": table.seeds}
    return {key: read[key](key) for key in table.content}


def _panel(where: str, content: Any) -> Panel:
    table = Table(content, where, required=["title", "environment"], optional=["parameters"])
    name = _registered(table, "environment", ENVIRONMENTS)
    parameters = complete(
        ENVIRONMENTS[name],
        table.content.get("parameters", {}),
        table.path("parameters"),
        derived=["seed"],
    )
    return Panel(table.text("title"), name, parameters)


def _contender(where: str, content: Any) -> Contender:
    table = Table(content, where, required=["policy"], optional=["label", "parameters"])
    name = _registered(table, "policy", POLICIES)
    parameters = complete(
        POLICIES[name],
        table.content.get("parameters", {}),
        table.path("parameters"),
        derived=["n_features", "seed"],
    )
    return Contender(table.text("label") if "label" in table else name, name, parameters)


def _registered(table: Table, key: str, registry: Iterable[str]) -> str:
    name = table.text(key)
    if name not in registry:
        error: UnknownName = unknown_name(key, name, registry)
        raise InvalidConfig(f"{table.path(key)}: {error}")
    return name


def _check_distinct(where: str, key: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidConfig(f"{where}[{i}].{key} must be distinct, got {name!r} twice")
