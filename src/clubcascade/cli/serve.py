"""``clubcascade serve``: the service over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import InvalidArgument, MissingExtra

HOME = Path("clubcascade-data")
EXTRA = 'the service needs its extra: pip install "clubcascade[service]"'


def _option(*names: str, env: str, help: str, **more: Any) -> Any:
    """Return an option that is also an environment variable."""
    return typer.Option(*names, envvar=f"CLUBCASCADE_{env}", help=help, **more)


def serve(
    folder: Annotated[
        Path, _option("--dir", env="DIR", help="Folder of the store and the keys.")
    ] = HOME,
    store: Annotated[
        str | None,
        _option(env="STORE", help="A PostgreSQL URL, instead of SQLite in the folder."),
    ] = None,
    host: Annotated[str, _option(env="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, _option(env="PORT", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8080,
    workers: Annotated[
        int, _option(env="WORKERS", min=1, max=256, help="Processes that share the store.")
    ] = 1,
    n_features: Annotated[
        int | None,
        _option(env="N_FEATURES", min=1, help="Make the model 'default' with so many features."),
    ] = None,
    policy: Annotated[
        str | None,
        _option(env="POLICY", help="Policy of the model 'default'; by default cohort_cascade."),
    ] = None,
    model: Annotated[
        Path | None,
        _option(
            env="MODEL",
            help="Make the model 'default' of a file of clubcascade train.",
        ),
    ] = None,
    wait: Annotated[float, _option(env="WAIT", help="Seconds that feedback may take.")] = 86_400.0,
    absent: Annotated[
        str,
        _option(env="ABSENT", help="What feedback that never comes teaches: ignore or no_click."),
    ] = "ignore",
    durable_decisions: Annotated[
        bool,
        _option(
            "--durable-decisions",
            env="DURABLE_DECISIONS",
            help="Answer recommend when it is on the disk.",
        ),
    ] = False,
    snapshot_every: Annotated[
        int, _option(env="SNAPSHOT_EVERY", min=1, help="Events between two snapshots.")
    ] = 20_000,
    archive: Annotated[
        Path | None,
        _option(
            env="ARCHIVE",
            help="Folder of old events; by default in the store's. With PostgreSQL: none, or one "
            "that all servers share.",
        ),
    ] = None,
    keep: Annotated[
        float | None,
        _option(env="KEEP", help="Days that old events are kept; by default for ever."),
    ] = None,
    rate: Annotated[
        float,
        _option(env="LIMIT_RATE", min=0, help="Requests per second and key; 0: any number."),
    ] = 5_000.0,
    no_auth: Annotated[
        bool,
        _option("--no-auth", env="NO_AUTH", help="Without keys; only on a loopback address."),
    ] = False,
    repair: Annotated[
        bool,
        _option("--repair", env="REPAIR", help="Go on from the last good event of a damaged log."),
    ] = False,
    log_level: Annotated[
        str, _option(env="LOG_LEVEL", help="debug, info, warning or error.")
    ] = "warning",
    log_format: Annotated[str, _option(env="LOG_FORMAT", help="text or json.")] = "text",
    access_log: Annotated[
        bool, _option("--access-log", env="ACCESS_LOG", help="Log a line for every request.")
    ] = False,
) -> None:
    """Serve recommendations and take feedback over HTTP.

    The first start makes an admin key and shows it once. Any number of servers
    may share one store. Each option is also an environment variable, such as
    CLUBCASCADE_PORT. Stop it with Ctrl-C or SIGTERM: what was acknowledged is
    finished.
    """
    with exit_codes():
        try:
            from clubcascade.service import server  # noqa: PLC0415 - an extra
            from clubcascade.service.arguments import make_policy  # noqa: PLC0415
            from clubcascade.service.http import Limits  # noqa: PLC0415
            from clubcascade.service.keys import KeyFile  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra(EXTRA) from error
        from clubcascade import validation  # noqa: PLC0415

        validation.choice("log_level", log_level, ("debug", "info", "warning", "error"))
        validation.choice("log_format", log_format, ("text", "json"))
        if no_auth and not server.is_loopback(host):
            raise InvalidArgument(
                f"host must be a loopback address with --no-auth, got {host!r}; leave --no-auth out"
            )
        if policy is not None:
            make_policy(policy, n_features)  # refuse a wrong name before there is a key or a store
        if model is not None:
            _check_model(model, policy, n_features)
        limits = Limits.of(os.environ, rate=rate)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keys = None if no_auth else KeyFile(folder / "keys.json")
        options = server.Options(
            store or str(folder / "store"),
            None if keys is None else keys.path,
            limits,
            {
                "policy": policy,
                "n_features": n_features,
                "trained": None if model is None else str(model),
                "wait": wait,
                "absent": absent,
                "durable_decisions": durable_decisions,
                "snapshot_every": snapshot_every,
                "repair": repair,
                "archive": archive,
                "keep": keep,
            },
            log_level,
            log_format,
            access_log,
        )
        sock = server.listen(host, port)

        def say_where() -> None:
            if keys is not None and not keys.all():
                typer.echo(f"admin key, shown only now: {keys.add('admin')}")
            place = f"[{host}]" if ":" in host else host
            where = f"http://{place}:{sock.getsockname()[1]}"
            typer.echo(f"listening on {where} (page: /ui, docs: /docs)")

        if workers > 1:
            server.Workers(options, sock, workers).run(say_where)
        else:
            service = options.service()
            service.on_open = say_where
            server.run(server.serve(service, sock))
        typer.echo("stopped; everything acknowledged is on the disk")


def _check_model(model: Path, policy: str | None, n_features: int | None) -> None:
    """Refuse a wrong file before there is a key or a store."""
    if policy is not None or n_features is not None:
        raise InvalidArgument("--model must be given without --policy and --n-features, got both")
    if not model.is_file():
        raise InvalidArgument(f"--model must be a file that exists, got {str(model)!r}")
    from clubcascade import model_file  # noqa: PLC0415
    from clubcascade.training.model import FORMAT, MAGIC  # noqa: PLC0415 - an extra

    model_file.read_parts(model, MAGIC, FORMAT)
