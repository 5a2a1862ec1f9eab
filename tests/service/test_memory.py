"""Clients without a key: how much memory and how many files they can take."""

import socket
import time
from contextlib import contextmanager

import httpx
import pytest

from tests.service.test_server import process

MIB = 2**20
HEAD = b"POST /v1/default/recommend HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield (process, address, key) of one service for all tests."""
    folder = tmp_path_factory.mktemp("served")
    with process(folder, "--n-features", "3") as (child, url, key):
        found = httpx.URL(url)
        rest(child)
        yield child, (found.host, found.port), key


def resident(child):
    with open(f"/proc/{child.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def rest(child):
    """Wait until a new server has compiled what it serves with: that takes memory of its own."""
    busy, deadline = -1000, time.monotonic() + 300
    while time.monotonic() < deadline:
        with open(f"/proc/{child.pid}/stat") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        if (now := int(user) + int(system)) - busy < 20:  # a tenth of its time: hundredths in 2 s
            return
        busy = now
        time.sleep(2.0)
    raise TimeoutError("the server does not come to rest")


@contextmanager
def dialled(address, count=1):
    found = []
    try:
        for _ in range(count):
            found.append(socket.create_connection(address, timeout=30))
        yield found
    finally:
        for connection in found:
            connection.close()


def ready(address):
    return httpx.get(f"http://{address[0]}:{address[1]}/readyz", timeout=60).status_code == 200


def push(connection, data, most, patience=2.0):
    """Send again and again without reading, until ``most`` bytes or until nobody takes them."""
    connection.settimeout(patience)
    sent = 0
    try:
        while sent < most:
            sent += connection.send(data)
    except (TimeoutError, ConnectionError):
        pass
    return sent


@pytest.mark.parametrize(
    "asked",
    [
        HEAD + b"Content-Length: 2\r\n\r\n{}",
        b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["list", "models", "page"],
)
def test_answers_that_nobody_reads(server, asked):
    child, address, _ = server
    assert ready(address)
    before = resident(child)
    with dialled(address, 4) as connections:
        for connection in connections:
            push(connection, asked * 500, 20 * MIB)
        grown = resident(child) - before
    assert grown < 80 * MIB  # without the bound 170 MB and more
    assert ready(address)


def test_bodies_of_clients_without_a_key(server):
    child, address, _ = server
    assert ready(address)
    before = resident(child)
    size = 4 * MIB
    with dialled(address, 40) as connections:
        for connection in connections:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % size + b" " * (size - 1))
        for connection in connections:  # all is read: the last byte is all that lacks
            connection.sendall(b" ")
            assert connection.recv(100).startswith(b"HTTP/1.1 401 ")
        grown = resident(child) - before
    assert grown < 80 * MIB  # if bodies were read, 160 MB
    assert ready(address)


def test_bodies_of_one_key(server):
    """What one key has in work is bounded in bytes; others, and the next request, are served.

    Besides the 32 MiB of a key, each connection may hold one read of the event loop (256 KiB), and
    the allocator keeps freed pieces: so the bodies are many, and the two cases far apart.
    """
    child, address, key = server
    assert ready(address)
    before = resident(child)
    size = 4 * MIB
    head = HEAD + b"Authorization: Bearer %b\r\n" % key.encode()
    with dialled(address, 120) as connections:
        for connection in connections:
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % size + b" " * (size - 1))
        grown = resident(child) - before
        for connection in connections:
            connection.sendall(b" ")
        told = [connection.recv(400) for connection in connections]
    assert grown < 240 * MIB  # without the bound 430 MB and more
    refused = [one for one in told if one.startswith(b"HTTP/1.1 429 ")]
    assert all(b"33554432 bytes of requests in work" in one for one in refused)
    assert len(refused) >= 110
    with dialled(address) as (connection,):
        connection.sendall(head + b"Content-Length: 2\r\n\r\n{}")
        assert connection.recv(400).startswith(b"HTTP/1.1 422 ")


@pytest.mark.parametrize(
    "start",
    [
        b"GET /healthz HTTP/1.1\r\nX: ",
        b"GET /" + b"x" * 10,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: ",
    ],
    ids=["header", "address", "trailer"],
)
def test_heads_without_an_end(server, start):
    child, address, _ = server
    assert ready(address)
    grown = []
    for _ in range(3):  # what a first request loads, and what a busy machine buffers, comes once
        before = resident(child)
        with dialled(address) as (connection,):
            connection.sendall(start)
            push(connection, b"x" * MIB, 46 * MIB)
            grown.append(resident(child) - before)
    assert min(grown) < 16 * MIB  # without the bound 46 MB
    assert ready(address)


def test_many_headers_are_too_much(server):
    _, address, _ = server
    with dialled(address) as (connection,):
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + b"X: 1\r\n" * 12_000)
        found = connection.recv(4000)
    assert found.startswith(b"HTTP/1.1 431 ") and b'"code":"too_large"' in found


def test_pipelined_requests_are_all_answered(server):
    """Holding back is not dropping: whoever reads late gets every answer."""
    _, address, _ = server
    count = 3_000
    with dialled(address) as (connection,):
        connection.settimeout(60)
        connection.sendall((HEAD + b"Content-Length: 2\r\n\r\n{}") * (count - 1))
        connection.sendall(HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
        found = b""
        while more := connection.recv(2**16):
            found += more
    assert found.count(b"HTTP/1.1 401 ") == count


def test_idle_connections_beyond_the_files(tmp_path):
    """The limit of open files is near: lists and answers go on, and are written."""
    files, many = 300, 600
    with process(tmp_path, "--n-features", "2", files=files) as (_, url, key):
        found = httpx.URL(url)
        with httpx.Client(base_url=url, timeout=60) as client:
            client.headers["Authorization"] = f"Bearer {key}"
            body = {"user": "a", "k": 1, "items": [[1.0, 0.0], [0.0, 1.0]]}
            learned = []

            def play():
                decision = client.post("/v1/default/recommend", json=body).json()
                sent = {"decision_id": decision["decision_id"], "click": 0}
                answer = client.post("/v1/default/feedback", json=sent)
                learned.append(answer.json().get("outcome"))

            play()
            held = []
            for _ in range(many):
                connection = socket.socket()
                connection.setblocking(False)
                connection.connect_ex((found.host, found.port))
                held.append(connection)
            for _ in range(30):
                play()
                time.sleep(0.1)
            for connection in held:
                connection.close()
            for _ in range(10):
                play()
            assert learned == ["applied"] * 41
            assert client.get("/readyz").status_code == 200
