"""``clubcascade export``, ``replay``, ``backup``, ``restore``: the log of a service, read again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import InvalidArgument

STORE = typer.Option(
    envvar="CLUBCASCADE_STORE", help="Folder of the store, or a URL postgresql://..."
)
DEFAULT = "clubcascade-data/store"
Store = Annotated[str, STORE]
ARCHIVE = typer.Option(
    envvar="CLUBCASCADE_ARCHIVE", help="Folder of old events, if the service has one."
)
Archive = Annotated[Path | None, ARCHIVE]


def export(
    out: Annotated[Path, typer.Option(help="Folder to write to, new or empty.")],
    model: Annotated[str, typer.Option(help="Name of the model.")] = "default",
    store: Store = DEFAULT,
    archive: Archive = None,
) -> None:
    """Write a model's decisions and feedback as Parquet files.

    The service may run meanwhile. A manifest has the SHA-256 of each file.
    """
    with exit_codes():
        from clubcascade.service.history import existing  # noqa: PLC0415
        from clubcascade.service.history import export as write  # noqa: PLC0415 - slow to load

        with closing(existing(store, archive)) as opened:
            told = write(opened, model, out)
        typer.echo(f"{told['rows']} decisions up to position {told['position']} in {out}")


def replay(
    model: Annotated[str, typer.Option(help="Name of the model.")] = "default",
    position: Annotated[
        int | None, typer.Option(min=0, help="Position in the log; by default its end.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Learn with this policy instead of the model's own.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of that policy, name=value, as JSON.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save the model to this file.")] = None,
    store: Store = DEFAULT,
    archive: Archive = None,
) -> None:
    """Rebuild a model from the log, at any position, also with another policy.

    Prints position and digest: those that the service tells at that position.
    """
    with exit_codes():
        from clubcascade.policies import policy_class  # noqa: PLC0415 - slow to load
        from clubcascade.service.history import existing, replayed  # noqa: PLC0415

        if param and policy is None:
            raise InvalidArgument("param must be given with --policy")
        with closing(existing(store, archive)) as opened:
            other = None
            if policy is not None:
                kept = replayed(opened, position)[model].policy
                params = {"n_features": kept.n_features} if kept.n_features is not None else {}
                params |= dict(map(_read, param or []))
                try:
                    other = policy_class(policy)(**params)
                except TypeError as error:
                    raise InvalidArgument(f"param must fit {policy}, got {error}") from None
            models = replayed(opened, position, model=model, policy=other)
        found = models[model]
        if out is not None:
            found.policy.save(out)
        at, digest = models.digest(model)
        learned = found.counters["learned"]
        typer.echo(f"position {at}: {found.policy!r} learned {learned} lists, digest {digest}")


def _read(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    try:
        return name, json.loads(value) if sign else None
    except ValueError:
        return name, value


def backup(
    out: Annotated[Path, typer.Option(help="Folder to write to, new or empty.")],
    store: Store = DEFAULT,
    archive: Archive = None,
) -> None:
    """Copy a store into a folder, which is a store of its own. The service may run meanwhile."""
    with exit_codes():
        from clubcascade.service import history  # noqa: PLC0415 - slow to load

        with closing(history.existing(store, archive)) as opened:
            position = history.backup(opened, out)
        typer.echo(f"everything acknowledged up to position {position} is in {out}")


def restore(
    source: Annotated[Path, typer.Option("--from", help="Folder that `backup` wrote.")],
    store: Store = DEFAULT,
) -> None:
    """Fill a new store, in a folder or in PostgreSQL, from a backup, and check it."""
    with exit_codes():
        from clubcascade.service import history  # noqa: PLC0415 - slow to load

        position = history.restore(source, store)
        typer.echo(f"restored up to position {position}")
