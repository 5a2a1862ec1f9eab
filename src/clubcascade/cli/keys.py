"""``clubcascade keys``: make, list and remove the keys of a service."""

from pathlib import Path
from typing import Annotated

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import InvalidArgument

HOME = Path("clubcascade-data")


def keys(
    add: Annotated[str | None, typer.Option(help="Make a key: read, write or admin.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A model that the new key is for; may be repeated.")
    ] = None,
    remove: Annotated[str | None, typer.Option(help="Remove the key of that id.")] = None,
    folder: Annotated[
        Path, typer.Option("--dir", envvar="CLUBCASCADE_DIR", help="Folder of the service.")
    ] = HOME,
) -> None:
    """Make, list and remove keys; a running service notices within a second.

    Without --add and --remove the keys are listed: id, role, models. Keys are
    stored hashed: a new one is shown once. Without --model it is for all models.
    """
    with exit_codes():
        from clubcascade.service.keys import KeyFile  # noqa: PLC0415 - slow to load

        if add is not None and remove is not None:
            raise InvalidArgument("add and remove must not be given together")
        if model and add is None:
            raise InvalidArgument("model must be given with --add")
        known = KeyFile(folder / "keys.json")
        if add is not None:
            typer.echo(known.add(add, model or ["*"]))
            return
        if remove is not None:
            known.remove(remove)
            typer.echo(f"removed {remove}")
            return
        if not known.all():
            typer.echo(f"no keys in {folder}; make one: clubcascade keys --add write", err=True)
        for key in known.all():
            typer.echo(f"{key.id}  {key.role:<5}  {', '.join(key.models)}")
