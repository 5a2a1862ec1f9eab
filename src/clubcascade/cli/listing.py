"""``clubcascade list``: the policies, environments and figures that can be named."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from clubcascade import experiment
from clubcascade.cli.outcome import console_of, exit_codes
from clubcascade.cli.reproduce import ordered
from clubcascade.environments import ENVIRONMENTS
from clubcascade.policies import POLICIES

PIPED = 1000
"""Columns where the output is no terminal: nothing is wrapped."""


def list_names() -> None:
    """Show the policies and environments with their parameters, and the figures."""
    with exit_codes():
        console = console_of(PIPED)
        show(console, "Policies", POLICIES)
        show(console, "Environments", ENVIRONMENTS)
        show_figures(console)


def show(console: Console, title: str, registry: Mapping[str, type]) -> None:
    """Print the entries of a registry: name, summary, parameters."""
    console.print(Text(title, style="bold underline"))
    for name, cls in sorted(registry.items()):
        lines = (name, "bold cyan", 2), (summary(cls), "", 6), (parameters(cls), "dim", 6)
        for text, style, indent in lines:
            if text:
                console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))
    console.print()


def show_figures(console: Console) -> None:
    """Print what ``reproduce`` can draw: name, number in the paper, title."""
    console.print(Text("Figures", style="bold underline"))
    for name, number in ordered().items():
        title = experiment.read_experiment(name).title
        text = title if number is None else f"Figure {number} of the paper: {title}"
        console.print(Padding(Text(name, style="bold cyan"), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(text), (0, 0, 0, 6), expand=False))
    console.print()


def summary(cls: type) -> str:
    """Return the first paragraph of the docstring, as one line."""
    paragraph = (inspect.getdoc(cls) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "")


def parameters(cls: type) -> str:
    """Return the constructor's parameters with their defaults.

    >>> class Policy:
    ...     def __init__(self, *, n_features, reg=4.0): ...
    >>> parameters(Policy)
    'n_features, reg=4.0'
    """
    known = inspect.signature(cls).parameters.values()
    return ", ".join(
        p.name if p.default is inspect.Parameter.empty else f"{p.name}={p.default!r}" for p in known
    )
