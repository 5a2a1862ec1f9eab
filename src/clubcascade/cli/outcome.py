"""How a command ends: errors of our tree as one line, Ctrl-C with a word on how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from clubcascade._command import INTERRUPTED, at_work
from clubcascade.errors import ClubCascadeError

WRONG_USE = 2
FAILED = 1


@contextmanager
def exit_codes(continues: bool = False) -> Iterator[None]:
    """Turn errors into one line on stderr and an exit code.

    ``continues``: the same command, given again, goes on where it was stopped.
    """
    try:
        with at_work():
            yield
    except BrokenPipeError:
        raise
    except (ClubCascadeError, OSError) as error:
        typer.echo(f"clubcascade: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(WRONG_USE) from None
    except KeyboardInterrupt:
        how = "; the same command continues where it stopped" if continues else ""
        typer.echo(f"clubcascade: interrupted{how}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def console_of(piped: int) -> Console:
    """Return where tables are printed; ``piped`` columns wide where that is no terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=piped)
