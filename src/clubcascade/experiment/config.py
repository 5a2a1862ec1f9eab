"""Experiment files: TOML to an :class:`Experiment` in which every value is stated, and back."""

import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import InvalidConfig, unknown_name
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.data import with_data
from clubcascade.experiment.files import file_of, merged, read_content, titled
from clubcascade.experiment.parameters import check_grid, complete
from clubcascade.experiment.placeholders import check_environment
from clubcascade.experiment.schema import (
    INNER,
    MOST_SEEDS,
    Changes,
    Contender,
    Experiment,
    ExperimentFile,
    FileTable,
    Length,
    Panel,
    Parameters,
    Tune,
    read_table,
)
from clubcascade.policies import POLICIES
from clubcascade.policies._legacy import upgraded_entry

TUNING_SEED = 1_000_000
"""The first seed of tuning where the file says how many: far from those of the runs."""


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
    file = file_of(source)
    changes = {"rounds": rounds, "seeds": seeds}
    try:
        return parse(read_content(file), quick=quick, changes=changes, data=data)
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
    file = read_table(_written_out(content, data or {}), ExperimentFile)
    given = read_table(_counted(changes or {}), Changes)
    if quick and file.quick is None:
        raise InvalidConfig("no [quick] table, which a quick run needs")
    changed = _given(file.quick if quick else None) | _given(given)
    panels = tuple(
        _panel(f"panels[{i}]", panel, own_rounds="rounds" not in changed)
        for i, panel in enumerate(file.panels)
    )
    policies = [c for i, each in enumerate(file.policies) for c in _lines(f"policies[{i}]", each)]
    _check_names(panels, policies)
    tune = file.tune and replace(file.tune, **_given(changed.pop("tune", None)))
    _check_tuning(policies, tune, changed.get("seeds", file.seeds))
    full = file.full or Length(file.longest, len(file.seeds))
    clicks = [panel.parameters.get("clicks") for panel in panels]
    kept = {name: getattr(file, name) for name in Experiment.__struct_fields__} | changed
    kept |= {"panels": panels, "policies": tuple(policies), "tune": tune, "full": full}
    return Experiment(**kept | {"title": titled(file.title, clicks)})


def plain(experiment: Experiment) -> dict[str, Any]:
    """Return the tables of the file of an experiment, every value stated."""
    content = _stated(msgspec.to_builtins(experiment))
    if not experiment.first_look:
        content.pop("full", None)
    content["panels"] = [_stated(panel) for panel in content["panels"]]
    content["policies"] = [_stated(policy) for policy in content["policies"]]
    if "tune" in content:
        content["tune"] = _stated(content["tune"])
    return content


def _stated(table: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is not there, which TOML cannot say."""
    return {key: value for key, value in table.items() if value is not None and value != {}}


def _given(changes: FileTable | None) -> dict[str, Any]:
    """Return what a table of changes says, its own tables as they are."""
    return {} if changes is None else _stated(asdict(changes))


def _counted(table: Any, first: int = 0) -> Any:
    """Return a table with lists of seeds where it, its ``tune`` or ``quick`` say how many."""
    if not isinstance(table, Mapping):
        return table
    table = dict(table)
    n = table.get("seeds")
    if isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= MOST_SEEDS:
        table["seeds"] = list(range(first, first + n))
    for key, start in (("tune", TUNING_SEED), ("quick", 0)):
        if key in table:
            table[key] = _counted(table[key], start)
    return table


def _written_out(content: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return the tables with what a file may leave out: seeds, common keys of panels, labels."""
    table: dict[str, Any] = _counted(content)
    if isinstance(panels := table.get("panels"), list):
        shared = table.get("all_panels", {})
        table["panels"] = [with_data(merged(shared, panel), data) for panel in panels]
    if isinstance(policies := table.get("policies"), list):
        table["policies"] = [
            {"label": each["policy"], **each}
            if isinstance(each, Mapping) and isinstance(each.get("policy"), str)
            else each
            for each in policies
        ]
    return table


def _panel(where: str, panel: Panel, *, own_rounds: bool) -> Panel:
    """Check a panel, and state the defaults of its environment."""
    cls = _registered(f"{where}.environment", "environment", panel.environment, ENVIRONMENTS)
    where = f"{where}.parameters"
    parameters = complete(cls, panel.parameters, where, derived=["seed"])
    check_environment(parameters, where)
    return replace(
        panel,
        title=titled(panel.title, [parameters.get("clicks")]),
        parameters=parameters,
        rounds=panel.rounds if own_rounds else None,
    )


def _lines(where: str, entry: Contender) -> list[Contender]:
    """Check a policy and state its defaults: one line, or as many as its sweep has points."""
    name, stated = upgraded_entry(entry.policy, entry.parameters)
    entry = replace(entry, policy=name, parameters=stated)
    cls = _registered(f"{where}.policy", "policy", entry.policy, {**POLICIES, **BOUNDS})
    inner = {key: values for key, values in entry.tune.items() if key.startswith(INNER)}
    own = {key: values for key, values in entry.tune.items() if key not in inner}
    for key, grid in (("tune", own), ("sweep", entry.sweep)):
        check_grid(cls, grid, f"{where}.{key}")
    lines = []
    for values in product(*entry.sweep.values()):
        point = dict(zip(entry.sweep, values, strict=True))
        derived = ["n_features", "seed", *(key.removeprefix(INNER) for key in entry.tune)]
        given = {**entry.parameters, **point}
        parameters = _completed(cls, given, f"{where}.parameters", derived)
        _check_inner(inner, parameters.get("policy"), f"{where}.tune")
        label = ", ".join([entry.label, *(f"{key}={value}" for key, value in point.items())])
        lines.append(Contender(label, entry.policy, parameters, entry.tune))
    return lines


def _check_inner(grid: Mapping[str, Any], inner: Any, where: str) -> None:
    """Check the lists of values for parameters of the policy inside."""
    if grid and not isinstance(inner, Mapping):
        raise InvalidConfig(f"{where}: {next(iter(grid))!r} needs a policy inside, got none")
    if grid:
        names = {key.removeprefix(INNER): values for key, values in grid.items()}
        check_grid(POLICIES[inner["name"]], names, where)


def _completed(cls: type, given: Parameters, where: str, derived: list[str]) -> Parameters:
    """State the defaults of a policy, and those of a policy inside it."""
    parameters = complete(cls, given, where, derived=derived)
    if isinstance(inner := parameters.get("policy"), Mapping):
        name, rest = str(inner.get("name")), {k: v for k, v in inner.items() if k != "name"}
        kind = _registered(f"{where}.policy.name", "policy", name, POLICIES)
        parameters["policy"] = {"name": name, **_completed(kind, rest, f"{where}.policy", derived)}
    return parameters


def _registered(where: str, kind: str, name: str, registry: Mapping[str, type]) -> type:
    if name not in registry:
        raise InvalidConfig(f"{where}: {unknown_name(kind, name, registry)}")
    return registry[name]


def _check_names(panels: Sequence[Panel], policies: Sequence[Contender]) -> None:
    """See to it that titles and labels are distinct, and that panels name policies of the file."""
    labels = [contender.label for contender in policies]
    titles = [panel.title for panel in panels]
    for key, names in (("panels[{}].title", titles), ("policies[{}].label", labels)):
        for i, name in enumerate(names):
            if name in names[:i]:
                raise InvalidConfig(f"{key.format(i)} must be distinct, got {name!r} twice")
    for i, panel in enumerate(panels):
        for label in [*(panel.policies or ()), *panel.tuned]:
            if label not in labels:
                raise InvalidConfig(f"panels[{i}]: {unknown_name('policy', label, labels)}")


def _check_tuning(policies: Sequence[Contender], tune: Tune | None, seeds: Sequence[int]) -> None:
    """See to it that tuning has something to tune, and no seed of the results."""
    tuned = [c.label for c in policies if c.tune]
    if bool(tuned) != (tune is not None):
        alone = f"{tuned[0]!r} without a [tune] table" if tuned else "the table alone"
        raise InvalidConfig(
            f"a [tune] table and policies with 'tune' lines must come together, got {alone}"
        )
    shared = sorted(set(tune.seeds if tune else ()) & set(seeds))
    if shared:
        raise InvalidConfig(
            f"tune.seeds must not be seeds of the experiment, got {shared[0]} in both"
        )


def value_text(value: Any) -> str:
    """Return a value on one line, as an experiment file could have it.

    >>> print(value_text({"gap": 0.2, "items": "fixed", "weights": [1, 2.5], "on": True}))
    {gap = 0.2, items = "fixed", weights = [1, 2.5], on = true}
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {value_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    quoted = isinstance(value, bool | str)
    return json.dumps(value, ensure_ascii=False) if quoted else str(value)
