"""The parameters of a policy or an environment in an experiment file, against its constructor."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clubcascade.errors import InvalidArgument, InvalidConfig, unknown_name
from clubcascade.experiment.schema import Parameters


def accepted(cls: type) -> Mapping[str, inspect.Parameter]:
    """Return the constructor's parameters by name, without ``self``."""
    return inspect.signature(cls).parameters


def reject_unknown(kind: str, names: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise for the first name that is not known, with the nearest known one."""
    for name in names:
        if name not in known:
            raise InvalidConfig(str(unknown_name(kind, name, known, where)))


def complete(cls: type, given: Parameters, where: str, *, derived: Iterable[str]) -> Parameters:
    """Check parameters by name and fill in the constructor's own defaults.

    With the defaults written out, a saved configuration means the same after a default changes.
    Defaults that TOML cannot say (``None``) are left out.

    ``where`` is the path of their table in its file; parameters ``derived`` may be missing because
    they follow from the cell: sizes and seeds.
    """
    known, left_out = accepted(cls), set(derived)
    try:
        getattr(cls, "refuse_moved", list)(given)
    except InvalidArgument as error:
        raise InvalidConfig(f"{where}: {error}") from None
    reject_unknown("parameter", given, known, where)
    result = {}
    for name, parameter in known.items():
        if name in given:
            check_value(f"{where}.{name}", given[name])
            result[name] = given[name]
        elif name in left_out:
            continue
        elif parameter.default is inspect.Parameter.empty:
            raise InvalidConfig(f"missing parameter {name!r} in {where}, {cls.__name__} needs it")
        elif isinstance(parameter.default, bool | int | float | str):
            result[name] = parameter.default
    return result


def check_grid(cls: type, grid: Mapping[str, Sequence[Any]], where: str) -> None:
    """Raise if a list of values is not one of a parameter, or has a value that is none."""
    reject_unknown("parameter", grid, accepted(cls), where)
    for name, values in grid.items():
        check_value(f"{where}.{name}", list(values))


def check_value(where: str, value: Any) -> None:
    """Raise if a value is not one that a result folder can keep: text, numbers, booleans."""
    if isinstance(value, list):
        for i, entry in enumerate(value):
            check_value(f"{where}[{i}]", entry)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            check_value(f"{where}.{key}", entry)
    elif not isinstance(value, bool | int | float | str):
        raise InvalidConfig(
            f"{where} must be a string, a number, a boolean, or lists or tables of them, "
            f"got {value!r}"
        )
