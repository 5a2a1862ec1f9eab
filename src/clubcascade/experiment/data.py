"""Data sets in experiment files: ``clicks = "yelp"`` stands for the data set of that name."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from clubcascade import datasets
from clubcascade.datasets import Interactions
from clubcascade.errors import ClubCascadeError, DataMissing
from clubcascade.experiment.files import name_of
from clubcascade.experiment.schema import Experiment, Panel

_LENT: dict[str, Interactions] = {}
"""Data sets by fingerprint that this process was given, instead of finding them on its disk."""


def with_data(panel: Any, changes: Mapping[str, str]) -> Any:
    """Return an entry of ``[[panels]]`` with its data set replaced, if it has one.

    >>> with_data({"parameters": {"clicks": "yelp"}}, {"": "mine"})
    {'parameters': {'clicks': 'mine'}}
    """
    parameters = panel.get("parameters", {}) if isinstance(panel, Mapping) else {}
    clicks = parameters.get("clicks") if isinstance(parameters, Mapping) else None
    if not isinstance(clicks, str):
        return panel
    new = changes.get(clicks, changes.get("", clicks))
    return {**panel, "parameters": {**parameters, "clicks": new}}


def data_names(experiment: Experiment, among: Iterable[str]) -> list[str]:
    """Return what people call those of some data sets that an experiment has, each once."""
    wanted = set(among)
    clicks = [panel.parameters.get("clicks") for panel in experiment.panels]
    return list(dict.fromkeys(name_of(str(name)) for name in clicks if name in wanted))


def data_of(panel: Panel) -> Interactions | None:
    """Return the data set of a panel, None if it has none; DataMissing if it is not here."""
    clicks = panel.parameters.get("clicks")
    return datasets.find(clicks) if isinstance(clicks, str) else None


def data_sets(experiment: Experiment) -> dict[str, Interactions]:
    """Return the data sets of an experiment, by the names that its panels give them."""
    found = ((panel, data_of(panel)) for panel in experiment.panels)
    return {str(panel.parameters["clicks"]): data for panel, data in found if data is not None}


def lend(data: Iterable[Interactions]) -> None:
    """Give data sets to this process, which may have no disk in common with who has them."""
    _LENT.update((each.fingerprint, each) for each in data)


def clicks_of(name: str, fingerprint: str | None) -> Any:
    """Return the clicks of a data set, which must still be the one of that fingerprint."""
    if fingerprint in _LENT:
        return _LENT[fingerprint].clicks
    found = datasets.find(name)
    if fingerprint is not None and found.fingerprint != fingerprint:
        raise ClubCascadeError(f"the data set {name!r} was changed while the experiment ran")
    return found.clicks


def runnable(experiment: Experiment) -> tuple[Experiment | None, list[DataMissing]]:
    """Leave out the panels whose data are not here.

    Returns the experiment with the panels that can run, None if there are none, and what is
    missing, each with the command that brings it.
    """
    panels, missing = [], {}
    for panel in experiment.panels:
        try:
            data_of(panel)
        except DataMissing as error:
            missing[str(error)] = error
        else:
            panels.append(panel)
    some = replace(experiment, panels=tuple(panels)) if panels else None
    return some, list(missing.values())
