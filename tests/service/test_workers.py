"""``clubcascade serve --workers``: several processes, one port, one store."""

import os
import signal
import time

import httpx

import clubcascade as cc
from tests.service.shops import ITEMS
from tests.service.test_server import process


def digests_of(url, key, count):
    """Ask until so many servers have answered; return the digests by position."""
    headers, until = {"Authorization": f"Bearer {key}"}, time.monotonic() + 120
    servers, found = set(), {}
    while len(servers) < count:
        assert time.monotonic() < until, f"only servers {servers} answered"
        ready = httpx.get(f"{url}/readyz")  # each request may meet another server
        if ready.status_code == 200:
            servers.add(ready.json()["server"])
            told = httpx.get(f"{url}/v1/models/default/digest", headers=headers)
            if told.status_code == 200:
                found.setdefault(told.json()["position"], set()).add(told.json()["digest"])
        time.sleep(0.02)
    return found


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as listed:
        return [int(child) for child in listed.read().split()]


def workers(pid):
    found = []
    for child in children(pid):
        with open(f"/proc/{child}/cmdline") as command:
            if "spawn_main" in command.read():
                found.append(child)
    return found


def test_workers_share_a_port_and_a_store(tmp_path):
    options = ("--n-features", "3", "--workers", "2", "--rate", "0")
    with process(tmp_path, *options) as (child, url, key):
        acknowledged = []

        def play(count):
            for number in range(count):
                with cc.Client(url, key, retries=10) as client:  # each may meet another server
                    decision = client.recommend(f"user {number % 5}", 3, ITEMS)
                    assert client.feedback(decision.id, number % 3) in ("applied", "duplicate")
                    acknowledged.append((decision.id, number % 3))

        play(20)
        for digests in digests_of(url, key, 2).values():
            assert len(digests) == 1
        first = workers(child.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        play(20)  # the other one serves, and the first one comes back
        until = time.monotonic() + 120
        while len(set(workers(child.pid)) - {first[0]}) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=120) == 0
        assert "everything acknowledged is on the disk" in child.stdout.read()
    with cc.Recommender(tmp_path / "store") as shop:
        assert {shop.feedback(*each) for each in acknowledged} == {"duplicate"}
        assert shop.model().counters["learned"] == 40


def test_workers_end_with_the_process_that_started_them(tmp_path):
    with process(tmp_path, "--n-features", "3", "--workers", "2") as (child, _, _):
        until = time.monotonic() + 120
        while len(found := workers(child.pid)) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        child.kill()
        until = time.monotonic() + 120
        while any(os.path.exists(f"/proc/{pid}") and _lives(pid) for pid in found):
            assert time.monotonic() < until
            time.sleep(0.1)


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as told:
            return " Z " not in told.read()
    except OSError:
        return False
