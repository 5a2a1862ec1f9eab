"""A service for the tests: a real server on a free port of this machine."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from functools import partial

import httpx
import uvicorn

from clubcascade.service.app import Service
from clubcascade.service.http import Limits
from clubcascade.service.keys import KeyFile
from clubcascade.service.server import config, listen
from tests.service.shops import ITEMS, NAMES, shop


@contextmanager
def serving(folder, *, keys=False, limits=None, **options):
    """Yield (client, service); the service is ready."""
    known = KeyFile(folder / "keys.json") if keys else None
    service = Service(partial(shop, folder / "store", **options), known, limits or Limits(rate=0))
    with listening(service) as url, httpx.Client(base_url=url, timeout=120) as client:
        until = time.monotonic() + 600  # kernels may have to be compiled
        while client.get("/readyz").status_code != 200:
            assert service.failure is None, service.failure
            assert time.monotonic() < until
            time.sleep(0.01)
        yield client, service


@contextmanager
def listening(service):
    """Serve in a thread; yield the URL."""
    server = uvicorn.Server(config(service))
    sock = listen("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        sock.close()


def stock(client, model="default"):
    """Register the items."""
    rows = [{"id": n, "features": list(row)} for n, row in zip(NAMES, ITEMS, strict=True)]
    answer = client.put(f"/v1/{model}/items", json={"items": rows})
    assert answer.status_code == 200, answer.text


def bearer(token):
    return {"Authorization": f"Bearer {token}"}
