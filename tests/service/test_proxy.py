"""Servers behind a real reverse proxy: one that is killed costs clients a moment, no more."""

import shutil
import subprocess
import threading
import time

import httpx
import pytest

import clubcascade as cc
from benchmarks.servers import PROXY, free_port
from tests.docs.pages import DOCS, read
from tests.service.shops import ITEMS
from tests.service.test_server import process


@pytest.fixture
def haproxy():
    found = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    assert found, "this test needs HAProxy: install Debian's package 'haproxy'"
    return found


def _until(holds):
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_killed_server_costs_a_moment(tmp_path, database, haproxy):
    options = ("--n-features", "3", "--store", database, "--no-auth", "--rate", "0")
    front = free_port()
    with (
        process(tmp_path / "a", *options) as (first, a, _),
        process(tmp_path / "b", *options) as (_, b, _),
    ):
        places = [httpx.URL(url) for url in (a, b)]
        lines = "\n".join(f"  server s{u.port} {u.host}:{u.port}" for u in places)
        (tmp_path / "haproxy.cfg").write_text(PROXY.format(port=front, servers=lines))
        proxy = subprocess.Popen([haproxy, "-f", tmp_path / "haproxy.cfg"])
        acknowledged, longest, stop = [], [0.0], threading.Event()

        def work(number):
            with cc.Client(f"http://127.0.0.1:{front}", retries=20) as client:
                while not stop.is_set():
                    begun = time.monotonic()
                    decision = client.recommend(f"user {number}", 3, ITEMS)
                    outcome = client.feedback(decision.id, 1)
                    longest[0] = max(longest[0], time.monotonic() - begun)
                    acknowledged.append((decision.id, outcome))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        try:
            for thread in threads:
                thread.start()
            _until(lambda: len(acknowledged) >= 20)
            first.kill()
            before = len(acknowledged)
            _until(lambda: len(acknowledged) >= before + 20)  # the other one goes on
            stop.set()
            for thread in threads:
                thread.join()
        finally:
            stop.set()
            proxy.terminate()
            proxy.wait()
        assert longest[0] < 60  # a client gives up after some 80 seconds of tries
    applied = [one for one, outcome in acknowledged if outcome in ("applied", "duplicate")]
    with cc.Recommender(database) as shop:
        assert {shop.feedback(one, 1) for one in applied} == {"duplicate"}
    assert len(acknowledged) - len(applied) <= 10  # lists of the killed one, not yet durable


def test_the_page_has_this_configuration():
    page = read(DOCS / "howto" / "run-the-service.md")
    for line in PROXY.strip().splitlines():
        if "{" not in line:
            assert line.strip() in page, line
