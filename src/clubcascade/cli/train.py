"""``clubcascade train``: from a table of clicks to a model file, and what it is worth."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from clubcascade.cli.columns import AtLeast, Item, Rating, Time, User
from clubcascade.cli.outcome import exit_codes
from clubcascade.cli.progress import steps_bar
from clubcascade.errors import InvalidArgument


def train(
    clicks: Annotated[
        Path, typer.Argument(help="Table of clicks, one row each: CSV, Parquet or JSON lines.")
    ],
    items: Annotated[
        Path | None, typer.Option(help="Table of items: an id, a title, any other columns.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.cc"),
    policy: Annotated[str, typer.Option(help="The policy, by its name.")] = "cohort_cascade",
    k: Annotated[int, typer.Option("--k", help="Length of the lists that are judged.")] = 10,
    features: Annotated[
        int | None,
        typer.Option(help="Number of features from clicks.", show_default="the best of 9, 17, 33"),
    ] = None,
    user: User = None,
    item: Item = None,
    time: Time = None,
    rating: Rating = None,
    at_least: AtLeast = None,
    item_id: Annotated[
        str | None,
        typer.Option(help="Column of ids in the table of items; by default found by its name."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="What a column of the items is, such as zip=category; repeatable."),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Judge by the last clicks of the whole log, or of each user.")
    ] = "log",
    held_out: Annotated[float, typer.Option(help="Share of the clicks to judge by.")] = 0.2,
    als: Annotated[
        bool | None,
        typer.Option(help="Compare with ALS of implicit.", show_default="if it is installed"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
) -> None:
    """Learn from a table of clicks, and say what that is worth.

    Makes features of the items, starts a policy from the clicks, and compares
    its lists with popularity and others on the last part of the log. A table
    with columns shown and clicked is a log of lists, and learned exactly.
    """
    with exit_codes():
        started = clock.monotonic()
        _check_place(out)
        from clubcascade.training import train as run  # noqa: PLC0415  needs the extra features

        named = {"user": user, "item": item, "time": time, "rating": rating, "at_least": at_least}
        with steps_bar("train") as progress:
            model = run(
                clicks, items, policy=policy, k=k, n_features=features, kinds=_kinds(kind),
                item_id=item_id, split=cast(Any, split), held_out=held_out, als=als, seed=seed,
                progress=progress, **named,  # type: ignore[arg-type]
            )  # fmt: skip
            model.save(out)
        for line in model.said:
            typer.echo(f"  {line}")
        if model.worth is not None:
            typer.echo(f"\n{model.worth}\n")
        size = out.stat().st_size / 1e6
        typer.echo(f"wrote {out} ({size:,.1f} MB) after {clock.monotonic() - started:,.0f} s")


def _kinds(named: Sequence[str] | None) -> dict[str, Any]:
    found = {}
    for each in named or ():
        column, mark, kind = each.rpartition("=")
        if not mark or not column:
            raise InvalidArgument(f"--kind must be COLUMN=KIND, got {each!r}")
        found[column] = kind
    return found


def _check_place(out: Path) -> None:
    """Raise before the work, not after it, if the file cannot be written."""
    if not out.parent.is_dir():
        raise InvalidArgument(f"--out must be in a folder that exists, got {str(out)!r}")
    if out.is_dir():
        raise InvalidArgument(f"--out must be a file, got the folder {str(out)!r}")
