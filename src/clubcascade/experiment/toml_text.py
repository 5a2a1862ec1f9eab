"""An experiment written as TOML that can be read and run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from clubcascade.experiment.spec import Experiment


def experiment_text(experiment: Experiment) -> str:
    """Return the experiment file of an experiment, every value stated."""
    top: dict[str, Any] = {"title": experiment.title}
    if experiment.figure is not None:
        top["figure"] = experiment.figure
    top |= {
        "rounds": experiment.rounds,
        "k": experiment.k,
        "points": experiment.points,
        "seeds": list(experiment.seeds),
        "measure": experiment.measure,
    }
    if experiment.first_look:
        top["full"] = {"rounds": experiment.full_rounds, "seeds": experiment.full_seeds}
    parts = [_lines(top)]
    if experiment.tune is not None:
        parts.append(f"[tune]\n{_lines(_stated(asdict(experiment.tune)))}")
    for panel in experiment.panels:
        head = {"title": panel.title, "environment": panel.environment}
        names = ("rounds", "k", "policies", "tuned")
        head |= _stated({name: getattr(panel, name) for name in names})
        parts.append(_entry("panels", head, panel.parameters))
    for contender in experiment.policies:
        head = {"label": contender.label, "policy": contender.policy}
        head |= _stated({"tune": contender.tune})
        parts.append(_entry("policies", head, contender.parameters))
    return "\n".join(parts)


def _stated(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is not there, which TOML cannot say."""
    return {key: value for key, value in values.items() if value is not None and value != {}}


def value_text(value: Any) -> str:
    r"""Return one value as TOML.

    >>> print(value_text({"gap": 0.2, "items": "fixed", "weights": [1, 2.5], "on": True}))
    {gap = 0.2, items = "fixed", weights = [1, 2.5], on = true}
    >>> print(value_text(float("inf")), value_text('say "hi"\n'))
    inf "say \"hi\"\n"
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {value_text(entry)}" for key, entry in value.items())
        return "{" + ", ".join(pairs) + "}"
    return "[" + ", ".join(value_text(entry) for entry in value) + "]"


def _entry(array: str, head: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    return f"[[{array}]]\n{_lines(head)}[{array}.parameters]\n{_lines(parameters)}"


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {value_text(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else value_text(key)
