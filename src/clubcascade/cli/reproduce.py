"""``clubcascade reproduce``: the paper's figures, from the experiment files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clubcascade import experiment
from clubcascade.cli.experiments import (
    Data,
    Engine,
    Jobs,
    Quick,
    RayAddress,
    Rounds,
    Seeds,
    carry_out,
    data_changes,
)
from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import unknown_name
from clubcascade.experiment.files import headings

OUT = Path("clubcascade-results")
GROUPS = ("all", "discussion", "evaluation", "experiments", "paper")
DISCUSSION = ("ask", "dcm", "glm", "rare_users", "relax", "spanner")
"""What the paper has a theorem or a paragraph for, but no experiment."""
EVALUATION = ("grid", "grid_real", "newcomers", "newcomers_real", "panels", "panels_real")
"""Long runs that judge policies: only for who asks for them."""


def reproduce(
    figure: Annotated[
        str,
        typer.Option(
            help="Which figures, with commas between: paper, experiments, discussion, evaluation, "
            "all, or names (see list)."
        ),
    ] = "experiments",
    quick: Quick = False,
    rounds: Rounds = None,
    seeds: Seeds = None,
    data: Data = None,
    jobs: Jobs = None,
    engine: Engine = "process",
    ray_address: RayAddress = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = OUT,
) -> None:
    """Draw the figures of the paper, and some more.

    Each figure gets a folder: pictures (PNG and SVG), numbers (Parquet, CSV)
    and the configuration that made them; report.html shows it all. Figures
    whose data are not on this machine are left out, with the command that brings
    them. If a run was stopped, the same command continues it.
    """
    with exit_codes(continues=True):
        changes = data_changes(data)
        plans: dict[Path, experiment.Experiment] = {}
        left_out: dict[str, list[str]] = {}
        for name in chosen(figure):
            whole = experiment.read_experiment(
                name, quick=quick, rounds=rounds, seeds=seeds, data=changes
            )
            plan, missing = experiment.runnable(whole)
            if plan is None and name in words(figure):
                raise missing[0]
            for error in missing:
                what = name if plan is None else f"a part of {name}"
                left_out.setdefault(str(error), []).append(what)
            if plan is not None:
                plans[out / folder_of(name, whole, changes)] = plan
        for message, names in left_out.items():
            typer.echo(f"clubcascade: without {', '.join(names)}: {message}", err=True)
        beside = [cells.parent for cells in sorted(out.glob("*/cells"))]
        carry_out(
            plans,
            beside=beside,
            jobs=jobs,
            engine=engine,
            ray_address=ray_address,
            page_of=out,
        )


def chosen(figure: str) -> list[str]:
    """Return the names of the figures that were asked for, those of the paper first."""
    known = headings()
    paper = [name for name, (number, _) in known.items() if number is not None]
    groups = {
        "all": [name for name in known if name not in EVALUATION],
        "discussion": list(DISCUSSION),
        "evaluation": list(EVALUATION),
        "experiments": [name for name in known if name not in EVALUATION + DISCUSSION],
        "paper": paper,
    }
    names: dict[str, None] = {}
    for word in words(figure):
        if word not in known and word not in GROUPS:
            raise unknown_name("figure", word, [*known, *GROUPS])
        names |= dict.fromkeys(groups.get(word, [word]))
    return list(names)


def words(figure: str) -> list[str]:
    """Return the names between the commas."""
    return [word.strip() for word in figure.split(",")]


def folder_of(name: str, plan: experiment.Experiment, changes: dict[str, str]) -> str:
    """Return the name of a figure's folder: with other data than its own, theirs is in it."""
    names = experiment.data_names(plan, changes.values())
    return "-".join([name, *names])
