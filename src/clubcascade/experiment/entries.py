"""The entries of an experiment file: its panels and its policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import InvalidConfig, UnknownName, unknown_name
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.data import titled
from clubcascade.experiment.named import check_environment
from clubcascade.experiment.parameters import Parameters, accepted, check_value, complete
from clubcascade.experiment.spec import Contender, Panel
from clubcascade.experiment.table import Table, reject_unknown
from clubcascade.policies import POLICIES


def read_panel(where: str, content: Any, *, own_rounds: bool) -> Panel:
    """Read one of ``[[panels]]``.

    Parameters
    ----------
    where
        Path of the entry in its file.
    content
        The entry as it was read.
    own_rounds
        Whether the panel's own number of rounds counts; not where all runs are given another.
    """
    table = Table(
        content,
        where,
        required=["title", "environment"],
        optional=["parameters", "rounds", "k", "policies", "tuned"],
    )
    name = _registered(table, "environment", ENVIRONMENTS)
    parameters = complete(
        ENVIRONMENTS[name],
        table.content.get("parameters", {}),
        table.path("parameters"),
        derived=["seed"],
    )
    check_environment(parameters, table.path("parameters"))
    rounds = table.whole("rounds") if "rounds" in table else None
    return Panel(
        title=titled(table.text("title"), [parameters.get("clicks")]),
        environment=name,
        parameters=parameters,
        rounds=rounds if own_rounds else None,
        k=table.whole("k") if "k" in table else None,
        policies=table.texts("policies") if "policies" in table else None,
        tuned=_tuned(table),
    )


def read_policies(where: str, content: Any) -> list[Contender]:
    """Read one of ``[[policies]]``: one policy, or as many as its ``sweep`` has points."""
    table = Table(
        content, where, required=["policy"], optional=["label", "parameters", "tune", "sweep"]
    )
    registry: dict[str, type] = {**POLICIES, **BOUNDS}
    name = _registered(table, "policy", registry)
    given = table.content.get("parameters", {})
    label = table.text("label") if "label" in table else name
    tune = _grid(table, "tune", registry[name])
    sweep = _grid(table, "sweep", registry[name])
    contenders = []
    for values in product(*sweep.values()):
        point = dict(zip(sweep, values, strict=True))
        parameters = complete(
            registry[name],
            {**given, **point} if isinstance(given, Mapping) else given,
            table.path("parameters"),
            derived=["n_features", "seed", *tune],
        )
        title = ", ".join([label, *(f"{key}={value}" for key, value in point.items())])
        contenders.append(Contender(title, name, parameters, tune))
    return contenders


def _grid(table: Table, key: str, cls: type) -> dict[str, tuple[Any, ...]]:
    """Read lists of values by parameter; nothing where the key is missing."""
    if key not in table:
        return {}
    content, where = table.content[key], table.path(key)
    if not isinstance(content, Mapping) or not content:
        raise InvalidConfig(f"{where} must be lists of values by parameter, got {content!r}")
    reject_unknown("parameter", content, accepted(cls), where)
    for name, values in content.items():
        if not isinstance(values, list) or not values:
            raise InvalidConfig(f"{where}.{name} must be a list of values, got {values!r}")
        check_value(f"{where}.{name}", values)
    return {name: tuple(values) for name, values in content.items()}


def _tuned(table: Table) -> dict[str, Parameters]:
    content = table.content.get("tuned", {})
    where = table.path("tuned")
    good = isinstance(content, Mapping) and all(isinstance(p, Mapping) for p in content.values())
    if not good:
        raise InvalidConfig(f"{where} must be a table of parameters by label, got {content!r}")
    return {label: dict(parameters) for label, parameters in content.items()}


def _registered(table: Table, key: str, registry: Iterable[str]) -> str:
    name = table.text(key)
    if name not in registry:
        error: UnknownName = unknown_name(key, name, registry)
        raise InvalidConfig(f"{table.path(key)}: {error}")
    return name
