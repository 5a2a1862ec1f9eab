"""``clubcascade list``: the policies, environments and figures that can be named.

What is said of a class is read from its file, since importing it takes a second.
"""

import ast
import inspect
from collections.abc import Mapping
from importlib import import_module, metadata, resources
from pathlib import PurePath

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from clubcascade.cli.outcome import console_of, exit_codes
from clubcascade.experiment.files import headings

PIPED = 1000
"""Columns where the output is no terminal: nothing is wrapped."""
ENVIRONMENTS = ("matrix", "niche", "pool", "synthetic")
"""Those that experiment files can name."""
PACKAGE = resources.files("clubcascade")


def list_names() -> None:
    """Show the policies and environments with their parameters, and the figures."""
    with exit_codes():
        console = console_of(PIPED)
        show(console, "Policies", policies())
        show(console, "Environments", {n: described("environments", n) for n in ENVIRONMENTS})
        figures = {
            name: (title if number is None else f"Figure {number} of the paper: {title}", "")
            for name, (number, title) in headings().items()
        }
        show(console, "Figures", figures)


def show(console: Console, title: str, entries: Mapping[str, tuple[str, str]]) -> None:
    """Print entries: name, summary, parameters."""
    console.print(Text(title, style="bold underline"))
    for name, (about, given) in entries.items():
        for text, style, indent in (name, "bold cyan", 2), (about, "", 6), (given, "dim", 6):
            if text:
                console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))
    console.print()


def policies() -> dict[str, tuple[str, str]]:
    """Return summary and parameters of every policy; those of other packages are imported."""
    if metadata.entry_points(group="clubcascade.policies"):
        known = sorted(import_module("clubcascade.policies").POLICIES.items())
        return {name: (summary(inspect.getdoc(cls)), parameters(cls)) for name, cls in known}
    files = (PurePath(file.name) for file in (PACKAGE / "policies").iterdir())
    names = (file.stem for file in files if file.suffix == ".py" and file.name[0] != "_")
    return {name: described("policies", name) for name in sorted(names)}


def described(folder: str, name: str) -> tuple[str, str]:
    """Return summary and parameters of the public class of a file.

    >>> described("policies", "random")[1]
    'n_features=None, seed=0'
    """
    tree = ast.parse((PACKAGE / folder / f"{name}.py").read_text(encoding="utf-8"))
    classes = (each for each in tree.body if isinstance(each, ast.ClassDef))
    cls = next(each for each in classes if not each.name.startswith("_"))
    methods = (each for each in cls.body if isinstance(each, ast.FunctionDef))
    given = next(each.args for each in methods if each.name == "__init__")
    required = len(given.args) - len(given.defaults)
    defaults = [*[None] * required, *given.defaults, *given.kw_defaults]
    pairs = zip([*given.args, *given.kwonlyargs], defaults, strict=True)
    texts = [a.arg if value is None else f"{a.arg}={ast.unparse(value)}" for a, value in pairs]
    return summary(ast.get_docstring(cls)), ", ".join(texts[1:])


def summary(doc: str | None) -> str:
    """Return the first paragraph of a docstring, as one line."""
    return " ".join((doc or "").split("\n\n")[0].split()).replace("``", "")


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
