"""Experiment files: TOML, read into the dataclasses of ``spec``. An unknown key is an error."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from clubcascade.errors import InvalidConfig, unknown_name
from clubcascade.experiment.data import titled, with_data
from clubcascade.experiment.entries import read_panel, read_policies
from clubcascade.experiment.spec import SHOWN, Contender, Experiment, Panel, Tune
from clubcascade.experiment.table import Table
from clubcascade.experiment.tune_table import check_tuning, read_tune

__all__ = ["Contender", "Experiment", "Panel", "Tune", "parse", "read_experiment", "shipped"]

POINTS = 200
"""How many points a curve has where the file does not say."""


def shipped() -> dict[str, Traversable]:
    """Return the experiment files that come with the package, by name.

    >>> "synthetic" in shipped()
    True
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
    data: Mapping[str, str] | None = None,
) -> Experiment:
    """Read an experiment file, or a shipped one by its name.

    Parameters
    ----------
    source
        Path of a TOML file, or a name of :func:`shipped`.
    quick
        Let the file's ``[quick]`` table replace its rounds and seeds.
    rounds, seeds
        Replace the file's number of rounds and number of seeds, also those of ``[quick]`` and
        of single panels.
    data
        Replace data sets: new names or paths by the old ones; the key ``""`` stands for all.

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
        return parse(content, quick=quick, changes=given, data=data)
    except InvalidConfig as error:
        raise InvalidConfig(f"{file.name}: {error}") from None


def parse(
    content: Mapping[str, Any],
    *,
    quick: bool = False,
    changes: Mapping[str, Any] | None = None,
    data: Mapping[str, str] | None = None,
) -> Experiment:
    """Read an experiment from the tables of its file."""
    top = Table(
        content,
        "",
        required=["title", "rounds", "k", "seeds", "panels", "policies"],
        optional=["figure", "points", "measure", "tune", "quick", "full"],
    )
    changed = _quick(top, wanted=quick)
    changed |= _length(Table(changes or {}, "", required=(), optional=["rounds", "seeds"]))
    length: dict[str, Any] = {"rounds": top.whole("rounds"), "seeds": top.seeds("seeds")}
    length |= changed
    entries = [(where, with_data(entry, data or {})) for where, entry in top.tables("panels")]
    panels = [
        read_panel(where, entry, own_rounds="rounds" not in changed) for where, entry in entries
    ]
    policies = [c for where, entry in top.tables("policies") for c in read_policies(where, entry)]
    _check_distinct("panels", "title", [panel.title for panel in panels])
    _check_distinct("policies", "label", [contender.label for contender in policies])
    _check_labels(panels, policies)
    tune = read_tune(top, changed.get("tune"))
    check_tuning(policies, tune, length["seeds"])
    return Experiment(
        title=titled(top.text("title"), [panel.parameters.get("clicks") for panel in panels]),
        figure=top.whole("figure") if "figure" in top else None,
        rounds=length["rounds"],
        k=top.whole("k"),
        points=top.whole("points") if "points" in top else POINTS,
        seeds=length["seeds"],
        panels=tuple(panels),
        policies=tuple(policies),
        measure=top.choice("measure", SHOWN) if "measure" in top else SHOWN[0],
        tune=tune,
        **_full(top),
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
    quick = Table(top.content["quick"], "quick", required=(), optional=["rounds", "seeds", "tune"])
    changes = _length(quick)
    return changes if wanted else {}


def _full(top: Table) -> dict[str, int]:
    """Return what the file asks for; of a saved first look, what its own file asked for."""
    if "full" in top:
        full = Table(top.content["full"], "full", required=["rounds", "seeds"])
        return {"full_rounds": full.whole("rounds"), "full_seeds": full.whole("seeds")}
    own = [entry["rounds"] for _, entry in top.tables("panels") if "rounds" in entry]
    common = [top.whole("rounds")] if len(own) < len(top.tables("panels")) else []
    return {"full_rounds": max(own + common), "full_seeds": len(top.seeds("seeds"))}


def _length(table: Table) -> dict[str, Any]:
    read: dict[str, Callable[[str], Any]] = {
        "rounds": table.whole,
        "seeds": table.seeds,
        "tune": lambda key: table.content[key],
    }
    return {key: read[key](key) for key in table.content}


def _check_distinct(where: str, key: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidConfig(f"{where}[{i}].{key} must be distinct, got {name!r} twice")


def _check_labels(panels: Sequence[Panel], policies: Sequence[Contender]) -> None:
    labels = [contender.label for contender in policies]
    for i, panel in enumerate(panels):
        for label in [*(panel.policies or ()), *panel.tuned]:
            if label not in labels:
                raise InvalidConfig(f"panels[{i}]: {unknown_name('policy', label, labels)}")
