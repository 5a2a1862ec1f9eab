"""An experiment written as TOML that can be read and run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clubcascade.experiment.config import Experiment


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
    }
    parts = [_lines(top)]
    for panel in experiment.panels:
        head = {"title": panel.title, "environment": panel.environment}
        parts.append(_entry("panels", head, panel.parameters))
    for contender in experiment.policies:
        head = {"label": contender.label, "policy": contender.policy}
        parts.append(_entry("policies", head, contender.parameters))
    return "\n".join(parts)


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
