"""``clubcascade serve``: the service over HTTP."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import InvalidArgument, MissingExtra

HOME = Path("clubcascade-data")
EXTRA = 'the service needs its extra: pip install "clubcascade[service]"'


def serve(
    folder: Annotated[Path, typer.Option("--dir", help="Folder of the store and the keys.")] = HOME,
    store: Annotated[
        str | None, typer.Option(help="A PostgreSQL URL, instead of SQLite in the folder.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Make the model 'default' with so many features.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Policy of the model 'default'; by default cohort_cascade.")
    ] = None,
    wait: Annotated[float, typer.Option(help="Seconds that feedback may take.")] = 86_400.0,
    absent: Annotated[
        str, typer.Option(help="What feedback that never comes teaches: ignore or no_click.")
    ] = "ignore",
    durable_decisions: Annotated[
        bool, typer.Option("--durable-decisions", help="Answer recommend when it is on the disk.")
    ] = False,
    snapshot_every: Annotated[
        int, typer.Option(min=1, help="Events between two snapshots.")
    ] = 20_000,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests per second and key; 0: any number.")
    ] = 5_000.0,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Without keys; only on a loopback address.")
    ] = False,
    takeover: Annotated[
        bool, typer.Option("--takeover", help="PostgreSQL: take the store from a stuck process.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Go on from the last good event of a damaged log.")
    ] = False,
) -> None:
    """Serve recommendations and take feedback over HTTP.

    The first start makes an admin key and shows it once. Stop it with Ctrl-C or
    SIGTERM: what was acknowledged is finished.
    """
    with exit_codes():
        try:
            from clubcascade.service import app, server  # noqa: PLC0415 - an extra
            from clubcascade.service.keys import KeyFile  # noqa: PLC0415
            from clubcascade.service.making import make_policy  # noqa: PLC0415
            from clubcascade.service.settings import Limits  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra(EXTRA) from error
        from clubcascade.service import Recommender  # noqa: PLC0415

        if no_auth and not server.is_loopback(host):
            raise InvalidArgument(
                f"host must be a loopback address with --no-auth, got {host!r}; leave --no-auth out"
            )
        if policy is not None:
            make_policy(policy, n_features)  # refuse a wrong name before there is a key or a store
        opener = partial(
            Recommender,
            store or folder / "store",
            policy=policy,
            n_features=n_features,
            wait=wait,
            absent=absent,  # type: ignore[arg-type]
            durable_decisions=durable_decisions,
            snapshot_every=snapshot_every,
            takeover=takeover,
            repair=repair,
        )
        folder.mkdir(parents=True, exist_ok=True)
        keys = None if no_auth else KeyFile(folder / "keys.json")
        sock = server.listen(host, port)
        if keys is not None and not keys.all():
            typer.echo(f"admin key, shown only now: {keys.add('admin')}")
        service = app.Service(opener, keys, Limits(rate=rate))
        place = f"[{host}]" if ":" in host else host
        typer.echo(f"listening on http://{place}:{sock.getsockname()[1]} (page: /ui, docs: /docs)")
        server.run(server.serve(service, sock))
        typer.echo("stopped; everything acknowledged is on the disk")
