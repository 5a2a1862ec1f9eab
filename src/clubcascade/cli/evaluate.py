"""``clubcascade evaluate``: what a log of lists says about a policy that did not make it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.cli.progress import steps_bar
from clubcascade.errors import InvalidArgument, MissingExtra, ModelFileError

if TYPE_CHECKING:
    from clubcascade.core import Policy


def evaluate(
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            "--against",
            help="Model file of the policy to evaluate; with --store also the name of a policy, "
            "which learns the first half of the log, or that up to --learned-until.",
        ),
    ],
    lists: Annotated[
        Path | None, typer.Argument(help="Parquet or CSV file, or the folder of an export.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Instead of files: a store's folder, or its URL.")
    ] = None,
    model: Annotated[str, typer.Option(help="Model of the store that made the lists.")] = "default",
    items: Annotated[
        Path | None, typer.Option(help="Items, as Parquet: a column id, the others are features.")
    ] = None,
    logging: Annotated[
        Path | None, typer.Option(help="Model file of the logging policy when the log began.")
    ] = None,
    learned_until: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Position of the log that the policy learned up to; 0 for nothing of it.",
            show_default="it keeps learning",
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(help="Evaluate from this position on.", show_default="--learned-until"),
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="The lists were drawn uniformly at random.")
    ] = False,
    int_users: Annotated[
        bool, typer.Option("--int-users", help="Users are whole numbers to the policies.")
    ] = False,
    draws: Annotated[int, typer.Option(help="Lists drawn again at every position.")] = 64,
    sample: Annotated[float, typer.Option(help="Share of the lists, for a quick look.")] = 1.0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap and of the sample.")] = 0,
) -> None:
    """Estimate the clicks per list of a policy from the log of another one.

    Says "cannot tell", with the reason, where the log does not support it.
    """
    with exit_codes():
        from clubcascade.core import Catalog  # noqa: PLC0415 - slow to load
        from clubcascade.evaluation import Log  # noqa: PLC0415
        from clubcascade.evaluation import evaluate as run  # noqa: PLC0415
        from clubcascade.evaluation.log import table_of  # noqa: PLC0415

        if (lists is None) == (store is None):
            raise InvalidArgument("give either the lists or --store, got both or none")
        if store is not None:
            from clubcascade.service.lists import learned_from, log_of  # noqa: PLC0415

            log, evaluated = log_of(store, model), None
            if Path(policy).suffix != ".cc" and not Path(policy).exists():
                evaluated, learned_until = learned_from(store, model, policy, learned_until)
        else:
            assert lists is not None
            catalog = None if items is None else Catalog(table_of(items), ids="id")
            user = int if int_users else lambda u: u
            log, evaluated = Log.read(lists, catalog, uniform=uniform, user=user), None
        with steps_bar("evaluate") as progress:
            told = run(
                log, evaluated or _loaded(policy), learned_until=learned_until, first=first,
                draws=draws, logging=None if logging is None else _loaded(logging),
                sample=sample, workers=workers, seed=seed,
                progress=lambda done, total: progress("drawing lists again", done, total),
            )  # fmt: skip
        typer.echo(told)


def _loaded(path: str | Path) -> Policy:
    from clubcascade.policies import load  # noqa: PLC0415 - slow to load

    try:
        return load(path)
    except ModelFileError:
        with suppress(ModelFileError, MissingExtra):
            from clubcascade.training import Trained  # noqa: PLC0415 - an extra

            Trained.load(path)
            raise InvalidArgument(
                f"--against and --logging must be files of a policy, got {str(path)!r} of `train`, "
                f"which ranks by item vectors of its own: the logged lists do not have them. Make "
                f"a model of it in the service, and compare it in an experiment"
            ) from None
        raise
