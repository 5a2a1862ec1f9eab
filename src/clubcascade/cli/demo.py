"""``clubcascade demo``: a service with a simulated audience."""

import contextlib
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from clubcascade.cli.outcome import exit_codes
from clubcascade.errors import MissingExtra

EXTRA = 'the demo needs its extras: pip install "clubcascade[service,client]"'


def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    rate: Annotated[float, typer.Option(min=0.1, max=1000, help="Visits per second.")] = 60.0,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Stop after so many seconds; else with Ctrl-C.")
    ] = None,
) -> None:
    """Start the service with a simulated audience, on this machine only.

    Listeners in four groups of taste look at lists of songs and click now and then;
    newcomers arrive. Two in five get the popular list, for comparison. Open the page
    that is printed and watch the model find out who likes what. The store is removed
    at the end.
    """
    import asyncio  # noqa: PLC0415 - slow to load

    with exit_codes():
        try:
            from clubcascade.service import app, demo, server  # noqa: PLC0415 - an extra
            from clubcascade.service.client import AsyncClient  # noqa: F401, PLC0415
            from clubcascade.service.http import Limits  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra(EXTRA) from error
        from clubcascade.service import Recommender  # noqa: PLC0415

        audience = demo.Audience()

        def opener() -> Recommender:
            store = Path(folder) / "store"
            shop = Recommender(store, n_features=demo.N_FEATURES, wait=60.0)
            demo.stock(shop, audience)
            return shop

        with tempfile.TemporaryDirectory(prefix="clubcascade-demo-") as folder:
            sock = server.listen("127.0.0.1", port)
            url = f"http://127.0.0.1:{sock.getsockname()[1]}"
            service = app.Service(opener, None, Limits(rate=0))
            typer.echo(f"open {url}/ui (stop with Ctrl-C)")

            async def run() -> None:
                serving = asyncio.create_task(server.serve(service, sock, seconds))
                share = rate / demo.PLAYERS
                playing = asyncio.gather(
                    *(
                        demo.play(url, None, audience, share, serving.done)
                        for _ in range(demo.PLAYERS)
                    )
                )
                try:
                    await serving
                finally:
                    playing.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await playing

            server.run(run())
        typer.echo("stopped")
