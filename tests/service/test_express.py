"""The short way past ASGI answers what the long way answers, and leaves no request behind."""

import asyncio
import json
import socket
import threading
import time

import httpx
import pytest

from clubcascade.service.express import Ride
from clubcascade.service.settings import Limits
from tests.service.shops import D
from tests.service.web import serving, stock


@pytest.fixture
def rides(monkeypatch):
    """How many requests took the short way."""
    taken = []
    go = Ride.go
    monkeypatch.setattr(Ride, "go", lambda self: (taken.append(self), go(self))[1])
    return taken


@pytest.fixture
def web(tmp_path, rides):
    with serving(tmp_path, limits=Limits(rate=0, body=100_000)) as (client, service):
        stock(client)
        rides.clear()
        yield client, service


def request(path, body, *headers, version="1.1"):
    text = json.dumps(body)
    lines = [f"POST {path} HTTP/{version}", "Host: localhost", f"Content-Length: {len(text)}"]
    return "\r\n".join([*lines, *headers, "", text]).encode()


def answers(held, count):
    """Read so many answers from a connection: (status, JSON) each."""
    data, found = b"", []
    while len(found) < count:
        head, end, rest = data.partition(b"\r\n\r\n")
        length = [int(x[15:]) for x in head.split(b"\r\n") if x.startswith(b"content-length:")]
        if end and len(rest) >= length[0]:
            found.append((int(head.split()[1]), json.loads(rest[: length[0]])))
            data = rest[length[0] :]
            continue
        more = held.recv(10_000)
        assert more, (data, found)
        data += more
    assert data == b""
    return found


def dial(client):
    held = socket.create_connection((client.base_url.host, client.base_url.port))
    held.settimeout(60)
    return held


def long_way(service, path, body, headers=()):
    """Ask the ASGI application itself."""

    async def ask():
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(path, content=body, headers=dict(headers))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/default/recommend", b'{"user": "a", "k": 2, "request_id": "r"}'),
        ("/v1/default/recommend", b'{"user": "a", "k": 0}'),
        ("/v1/default/recommend", b'{"user": "a", "k": 200}'),
        ("/v1/default/recommend", b'{"user": "a"'),
        ("/v1/default/recommend", b""),
        ("/v1/nothing/recommend", b'{"user": "a", "k": 2}'),
        ("/v1/default/feedback", b'{"decision_id": "1-0000000000000000", "click": 0}'),
        ("/v1/default/feedback", b'{"decision_id": "x", "click": 0, "clicks": [1]}'),
        ("/v1/default/feedback", b'{"feedback": []}'),
        ("/v1/default/feedback", b'{"feedback": [{"decision_id": "x", "click": -1}]}'),
        ("/v1/default/feedback", b"{}"),
    ],
)
def test_both_ways_say_the_same(web, rides, path, body):
    client, service = web
    short = client.post(path, content=body)
    assert len(rides) == 1
    long = long_way(service, path, body)
    assert len(rides) == 1
    assert (short.status_code, short.json()) == (long.status_code, long.json())
    assert short.headers["content-type"] == long.headers["content-type"]


def test_a_key_is_asked_for_on_the_short_way_too(tmp_path, rides):
    with serving(tmp_path, keys=True) as (client, _):
        answer = client.post("/v1/default/recommend", json={"user": "a", "k": 1})
    assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
    assert len(rides) == 1


def test_the_unusual_takes_the_long_way(web, rides):
    client, _ = web
    body = {"user": "a", "k": 2}
    path = "/v1/default/recommend"
    chunks = client.post(path, content=iter([b'{"user": "a",', b' "k": 2}']))
    assert chunks.status_code == 200
    assert client.post(path + "?x=1", json=body).status_code == 200
    assert client.post("/v1/%64efault/recommend", json=body).status_code == 200
    large = client.post(path, json={"user": "a" * 200_000, "k": 2})
    assert large.status_code == 413
    held = dial(client)
    held.sendall(request(path, body, version="1.0"))
    assert answers(held, 1)[0][0] == 200 and held.recv(100) == b""
    held.close()
    assert rides == []


def test_requests_in_one_packet_are_answered_in_order(web):
    client, _ = web
    recommend = request("/v1/default/recommend", {"user": "a", "k": 2})
    unknown = request("/v1/default/feedback", {"decision_id": "x", "click": 0})
    health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held = dial(client)
    for order in ([unknown, recommend, health, unknown], [recommend] * 3, [health, unknown]):
        held.sendall(b"".join(order))
        found = answers(held, len(order))
        assert [status for status, _ in found] == [200] * len(order)
        kinds = {"items": recommend, "outcome": unknown, "status": health}
        told = [next(kinds[key] for key in kinds if key in body) for _, body in found]
        assert told == order
    held.close()


def test_a_request_in_pieces(web, rides):
    client, _ = web
    held = dial(client)
    for byte in request("/v1/default/recommend", {"user": "a", "k": 2}):
        held.sendall(bytes([byte]))
    assert answers(held, 1)[0][0] == 200
    assert len(rides) == 1
    held.close()


def test_a_connection_is_closed_when_the_client_says_so(web, rides):
    client, _ = web
    held = dial(client)
    held.sendall(request("/v1/default/recommend", {"user": "a", "k": 2}, "Connection: close"))
    assert answers(held, 1)[0][0] == 200 and held.recv(100) == b""
    held.close()
    assert len(rides) == 1


def test_who_hangs_up_before_the_answer_is_learned_from_nevertheless(web):
    client, service = web
    decision = client.post("/v1/default/recommend", json={"user": "a", "k": 2}).json()
    held = dial(client)
    held.sendall(
        request("/v1/default/feedback", {"decision_id": decision["decision_id"], "click": 0})
    )
    held.close()
    until = time.monotonic() + 60
    while service.shop.model().counters["learned"] == 0:
        assert time.monotonic() < until
        time.sleep(0.01)
    again = {"decision_id": decision["decision_id"], "click": 0}
    assert client.post("/v1/default/feedback", json=again).json()["outcome"] == "duplicate"


def test_the_end_of_the_server_waits_for_an_answer_under_way(tmp_path, monkeypatch):
    slow = threading.Event()
    with serving(tmp_path) as (client, service):
        stock(client)
        decision = client.post("/v1/default/recommend", json={"user": "a", "k": 2}).json()
        commit = service.shop._store.commit

        def late(batch):
            slow.set()
            time.sleep(0.5)
            commit(batch)

        monkeypatch.setattr(service.shop._store, "commit", late)
        held = dial(client)
        body = {"decision_id": decision["decision_id"], "click": 0}
        held.sendall(request("/v1/default/feedback", body))
        assert slow.wait(60)
    found = answers(held, 1)  # the server has ended meanwhile
    assert found == [(200, {"decision_id": body["decision_id"], "outcome": "applied"})]
    held.close()


def test_decisions_that_must_be_durable_wait_without_holding_others(tmp_path, rides):
    with serving(tmp_path, durable_decisions=True, n_features=D) as (client, service):
        stock(client)
        for _ in range(3):
            answer = client.post("/v1/default/recommend", json={"user": "a", "k": 2})
            assert answer.status_code == 200
        assert service.shop.waiting == 3
    assert len(rides) == 3
