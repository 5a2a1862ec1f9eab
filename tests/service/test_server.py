"""The command ``clubcascade serve`` as a process."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial

import httpx
import pytest
from typer.testing import CliRunner

import clubcascade as cc
from clubcascade.cli.app import app
from clubcascade.service.arguments import DEFAULT_POLICY, make_policy
from clubcascade.service.http import Limits
from clubcascade.service.keys import KeyFile
from clubcascade.service.server import allow_files
from tests.service.shops import ITEMS
from tests.service.web import serving

COMMAND = [sys.executable, "-m", "clubcascade"]


def start(folder, *options, files=None, command=COMMAND):
    """Start the command, with a limit of open files."""
    limit = None if files is None else partial(resource.setrlimit, resource.RLIMIT_NOFILE)
    return subprocess.Popen(
        [*command, "serve", "--dir", folder, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=None if limit is None else partial(limit, (files, files)),
    )


@contextmanager
def process(folder, *options, **how):
    """Yield (process, url, key)."""
    child = start(folder, *options, **how)
    try:
        key = None
        for line in child.stdout:
            if found := re.search(r"cc_\S+", line):
                key = found[0]
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise AssertionError("the service did not start")
        url = found[0]
        until = time.monotonic() + 600  # kernels may have to be compiled
        while httpx.get(f"{url}/readyz", timeout=60).status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.05)
        yield child, url, key
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_service_from_start_to_end(tmp_path):
    with process(tmp_path, "--n-features", "3") as (child, url, key):
        assert key is not None and httpx.get(f"{url}/v1/models").status_code == 401
        acknowledged = []
        stop = threading.Event()

        def work(number):
            with cc.Client(url, key, retries=0) as client:
                while not stop.is_set():
                    try:
                        decision = client.recommend(f"user {number}", 3, ITEMS)
                        outcome = client.feedback(decision.id, 1)
                    except cc.errors.ClubCascadeError:
                        return
                    acknowledged.append((decision.id, outcome))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 120
        while len(acknowledged) <= 20:
            assert time.monotonic() < until
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)  # in the middle of the work
        assert child.wait(timeout=120) == 0
        stop.set()
        for thread in threads:
            thread.join()
        assert "everything acknowledged is on the disk" in child.stdout.read()
    with cc.Recommender(tmp_path / "store") as shop:
        assert {shop.feedback(one, 1) for one, _ in acknowledged} == {"duplicate"}
        assert shop.model().counters["learned"] >= len(acknowledged)


def test_a_trained_model_is_served(tmp_path):
    clicks = [{"user": f"u{n % 7}", "item": n % 5, "time": n} for n in range(70)]
    items = [{"item": n, "title": f"item {n}", "price": n} for n in range(6)]
    file = tmp_path / "shop.cc"
    cc.train(clicks, items, n_features=3, als=False, judge=False).save(file)
    options = ("--model", str(file), "--no-auth", "--workers", "2")
    with process(tmp_path, *options) as (child, url, _):
        with cc.Client(url) as client:
            found = client.recommend("u3", 2, metadata=True, filter="price > 1")
            assert [row["title"] for row in found.metadata] == [f"item {n}" for n in found.items]
            assert client.feedback(found.id, 0) == "applied"
            assert client.register_items(columns={9: {"title": "new", "price": 9}}) == 7
            assert client.create_model("again", file=file)["items"] == 6
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=120) == 0
    for wrong, said in [
        (["--model", "nowhere.cc"], "--model must be a file that exists, got 'nowhere.cc'"),
        (["--model", str(file), "--n-features", "3"], "without --policy and --n-features"),
        (["--model", __file__], "path must be a"),
    ]:
        child = start(tmp_path / "new", *wrong)
        assert said in child.stdout.read().replace("\n", " ")
        assert child.wait(timeout=120) == 2 and not (tmp_path / "new").exists()
        child.stdout.close()


BROKEN = """
from clubcascade.cli import main
from clubcascade.service.events import Answered
from clubcascade.service.models import Models
apply = Models.apply
def broken(self, events):
    events = list(events)
    assert not any(isinstance(event, Answered) for _, event in events), 1 / 0
    apply(self, events)
Models.apply = broken
main()
"""


def test_a_process_whose_writer_is_dead_ends(tmp_path):
    """It would serve lists that are never written; whoever watches it starts it anew."""
    broken = [sys.executable, "-c", BROKEN]
    with process(tmp_path, "--n-features", "3", command=broken) as (child, url, key):
        with cc.Client(url, key, retries=0) as client:
            decision = client.recommend("alice", 3, ITEMS)
            with pytest.raises(cc.errors.ClubCascadeError, match="the writer has stopped"):
                client.feedback(decision.id, 1)
        assert child.wait(timeout=120) not in (0, None)
        said = child.stdout.read()
        assert "the writer has stopped" in said and "ZeroDivisionError" in said
    with cc.Recommender(tmp_path / "store") as shop:  # it was durable, and is learned now
        assert shop.feedback(decision.id, 1) == "duplicate"
        assert shop.model().counters["learned"] == 1


def test_slow_clients_cannot_hold_the_service(tmp_path):
    with serving(tmp_path, limits=Limits(seconds=2.0, rate=0)) as (client, _):
        address = (client.base_url.host, client.base_url.port)
        silent, slow, body = (socket.create_connection(address) for _ in range(3))
        slow.sendall(b"POST /v1/default/feedback HTTP/1.1\r\nHost:")
        body.sendall(
            b"POST /v1/default/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        )
        assert client.get("/readyz").status_code == 200  # others are served meanwhile
        for held in (silent, slow, body):
            held.settimeout(60)
            answer = held.recv(1000)
            assert answer == b"" or b" 408 " in answer
            held.close()


def ask(address, text=b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"):
    """Send a request on a connection of its own; return (connection, status, JSON)."""
    held = socket.create_connection(address)
    held.settimeout(60)
    held.sendall(text)
    found = b""
    while not found.endswith(b"}"):
        more = held.recv(4000)
        assert more, found
        found += more
    head, _, body = found.partition(b"\r\n\r\n")
    assert b"application/json" in head
    return held, int(head.split()[1]), json.loads(body)


def test_one_connection_too_many_is_told_so(tmp_path):
    with serving(tmp_path, limits=Limits(connections=5, rate=0)) as (client, service):
        address = (client.base_url.host, client.base_url.port)
        held = [ask(address) for _ in range(4)]  # the client holds the fifth
        assert [status for _, status, _ in held] == [200] * 4
        refused, status, body = ask(address)
        assert status == 503 and body["error"]["code"] == "too_many_connections"
        assert body["error"].keys() == {"code", "field", "reason", "hint"}
        assert refused.recv(100) == b""  # and closed
        refused.close()
        assert client.get("/readyz").status_code == 200  # whoever was there goes on
        for connection, _, _ in held:
            connection.close()
        until = time.monotonic() + 60
        while (found := ask(address))[1] != 200:
            found[0].close()
            assert time.monotonic() < until
        found[0].close()


def test_more_files_are_allowed_where_that_is_allowed():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert allow_files(300) == 300
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, before[1])
        assert allow_files(100) == 300  # never fewer
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_what_is_no_http_is_refused(tmp_path):
    with serving(tmp_path) as (client, _):
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address, timeout=60) as held:
            held.sendall(b"\x16\x03\x01 hello\r\n\r\n")
            assert held.recv(4000).startswith(b"HTTP/1.1 400 ")
            assert held.recv(4000) == b""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "club_cascad", "--n-features", "2"], "did you mean 'club_cascade'"),
        (["--store", "mysql://nobody@127.0.0.1:9/x"], "store must be a folder or a URL postgresql"),
        (["--log-format", "xml"], "log_format must be"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, options, words):
    done = subprocess.run(
        [*COMMAND, "serve", "--dir", tmp_path, "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert "--policy" not in options or (done.stdout == "" and not list(tmp_path.iterdir()))


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_without_keys_only_on_loopback(tmp_path):
    done = run("serve", "--dir", tmp_path, "--no-auth", "--host", "0.0.0.0")
    assert done.exit_code == 2 and "host must be a loopback address" in done.stderr


def test_keys_by_command(tmp_path):
    keys = ("keys", "--dir", tmp_path)
    token = run(*keys, "--add", "write", "--model", "news").stdout.strip()
    assert token.startswith("cc_")
    listed = run(*keys).stdout.split()
    assert listed[1:] == ["write", "news"]
    assert run(*keys, "--remove", listed[0]).exit_code == 0
    none = run(*keys)
    assert none.stdout == "" and "make one: clubcascade keys --add" in none.stderr
    for wrong in (["--remove", "x"], ["--add", "owner"], ["--model", "x"]):
        assert run(*keys, *wrong).exit_code == 2


def test_the_help_names_the_policy_that_is_made():
    told = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    assert f"by default {DEFAULT_POLICY}" in told
    assert make_policy(None, 3).registry_name() == DEFAULT_POLICY


def test_keys_are_found_by_an_environment_variable(tmp_path):
    env = {"CLUBCASCADE_DIR": str(tmp_path)}
    token = CliRunner().invoke(app, ["keys", "--add", "read"], env=env).stdout.strip()
    assert KeyFile(tmp_path / "keys.json").find(token).role == "read"


def test_every_log_line_is_json_if_asked_for(tmp_path):
    """Those of the HTTP server, too: here of a request that is none."""
    child = start(tmp_path, "--log-format", "json", "--no-auth")
    try:
        for line in child.stdout:
            if found := re.search(r"http://127.0.0.1:(\d+)", line):
                break
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=60) as connection:
            connection.sendall(b"no HTTP at all\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    finally:
        child.terminate()
        lines = child.communicate(timeout=60)[0].splitlines()
    told = [json.loads(line) for line in lines if not line.startswith("stopped;")]
    assert [line["level"] for line in told if line["logger"].startswith("uvicorn")] == ["warning"]
