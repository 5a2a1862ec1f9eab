import asyncio
import json
import re
import socket
import threading
import time
from functools import partial

import httpx
import pytest

from clubcascade import storage
from clubcascade.service.app import Service
from clubcascade.service.http import Limits
from clubcascade.service.keys import KeyFile
from clubcascade.storage import SqliteStore
from tests.service.shops import ITEMS, NAMES, D, shop
from tests.service.web import bearer, serving, stock
from tests.storage.faulty_disk import FaultyDisk


@pytest.fixture
def web(tmp_path):
    with serving(tmp_path) as (client, service):
        yield client, service


@pytest.fixture
def client(web):
    return web[0]


def recommend(client, model="default", **changes):
    body = {"user": "alice", "k": 3, "items": ITEMS.tolist()} | changes
    return client.post(f"/v1/{model}/recommend", json={k: v for k, v in body.items() if v != "-"})


# -- what works ------------------------------------------------------------------------------------


def test_a_list_and_its_click(client):
    stock(client)
    answer = recommend(client, items="-")
    assert answer.status_code == 200
    found = answer.json()
    assert set(found["items"]) <= set(NAMES) and len(found["scores"]) == 3
    click = {"decision_id": found["decision_id"], "click": 1}
    for expected in ("applied", "duplicate"):
        answer = client.post("/v1/default/feedback", json=click)
        assert (answer.status_code, answer.json()["outcome"]) == (200, expected)
    other = client.post("/v1/default/feedback", json=click | {"click": None})
    assert other.json()["outcome"] == "conflict"
    assert client.get("/v1/models/default").json()["counters"]["learned"] == 1


def test_a_batch_has_an_answer_for_each(client):
    ids = [recommend(client).json()["decision_id"] for _ in range(3)]
    batch = [
        {"decision_id": ids[0], "click": 0},
        {"decision_id": ids[0], "click": 0},
        {"decision_id": "nonsense", "click": 0},
        {"decision_id": ids[1], "click": 99},
        {"decision_id": ids[1]},
        {"decision_id": ids[1], "examined": 2, "clicks": [0, 1]},
        {"decision_id": ids[2], "examined": 2, "clicks": [5]},
    ]
    found = client.post("/v1/default/feedback", json={"feedback": batch}).json()["outcomes"]
    assert [one.get("outcome", "error") for one in found] == [
        *("applied", "duplicate", "unknown", "error", "error", "applied", "error")
    ]
    assert found[3]["error"]["field"] == "click"


def test_candidates_and_the_same_request_twice(client):
    stock(client)
    body = {"user": "alice", "k": 2, "candidates": NAMES[:4], "request_id": "r1"}
    first = client.post("/v1/default/recommend", json=body).json()
    assert set(first["items"]) <= set(NAMES[:4])
    assert client.post("/v1/default/recommend", json=body).json() == first
    other = client.post("/v1/default/recommend", json=body | {"user": "bob"})
    assert other.status_code == 422 and other.json()["error"]["field"] == "request_id"


def test_models_are_made_and_described(client):
    made = client.put("/v1/models/news", json={"policy": "c3_ucb", "n_features": 4})
    assert made.status_code == 201 and made.json()["policy"] == "c3_ucb"
    assert (
        client.put("/v1/models/news", json={"policy": "c3_ucb", "n_features": 4}).status_code == 200
    )
    assert (
        client.put("/v1/models/news", json={"policy": "c3_ucb", "n_features": 5}).status_code == 409
    )
    assert client.get("/v1/models").json() == {"models": ["default", "news"]}
    assert client.put("/v1/models/models", json={"n_features": 4}).status_code == 422
    wrong = client.put("/v1/models/x", json={"policy": "club_cascad", "n_features": 4})
    assert wrong.status_code == 404 and "did you mean" in wrong.json()["error"]["reason"]
    for params in ({"reg": -1}, {"nope": 1}, {"users": 5}, {"seed": "x"}, {"start": [1]}):
        wrong = client.put("/v1/models/x", json={"n_features": 2, "params": params})
        assert wrong.status_code == 422, wrong.text
    assert client.get("/v1/models").json() == {"models": ["default", "news"]}


def test_a_model_with_a_link_of_its_own(client):
    rising, slopes = [0.5 + 0.01 * z / 64 for z in range(-2048, 2049)], [0.01] * 4097
    link = {"name": "line", "lipschitz": 0.01, "table": [rising, slopes]}
    sent = {"policy": "c3_ucb_glm", "n_features": 4, "params": {"link": link}}
    assert client.put("/v1/models/own", json=sent).status_code == 201
    assert client.put("/v1/models/own", json=sent).status_code == 200
    for table, status in (
        ([[z + 0.1 for z in rising], slopes], 409),
        ([rising[::-1], slopes], 422),
    ):
        sent["params"] = {"link": link | {"table": table}}
        assert client.put("/v1/models/own", json=sent).status_code == status


def test_users_clusters_digest_and_snapshot(web):
    client, service = web
    stock(client)
    for user in ("alice", 7):
        found = recommend(client, user=user, items="-").json()
        client.post("/v1/default/feedback", json={"decision_id": found["decision_id"], "click": 0})
    card = client.get("/v1/models/default/users/alice").json()
    assert card["looked"] == 1 and card["cluster_size"] == 2
    shown = recommend(client, user="alice", items="-", k=8).json()
    told = {item["id"]: item["score"] for item in card["next"]}  # expected; the list was drawn
    assert told == pytest.approx(dict(zip(shown["items"], shown["scores"], strict=True)))
    assert list(told.values()) == sorted(told.values(), reverse=True)
    assert all(item["width"] > 0 for item in card["next"])
    assert client.get("/v1/models/default/users/7").json()["user"] == 7
    assert client.get("/v1/models/default/users/nobody").status_code == 404
    clusters = client.get("/v1/models/default/clusters").json()
    assert clusters["sizes"] == [2] and len(clusters["clusters"][0]["taste"]) == 5
    digest = client.get("/v1/models/default/digest").json()["digest"]
    assert digest == service.shop.digest("default")
    assert client.post("/v1/models/default/snapshot").json() == {"position": 4}
    assert client.request("DELETE", "/v1/default/items", json={"ids": NAMES[:2]}).json() == {
        "removed": 2
    }


def test_metrics_count_what_happened(client):
    decision = recommend(client).json()["decision_id"]
    client.post("/v1/default/feedback", json={"decision_id": decision, "click": 0})
    recommend(client, k=0)
    text = client.get("/metrics").text
    assert 'clubcascade_requests_total{endpoint="recommend",status="200"} 1' in text
    assert 'clubcascade_requests_total{endpoint="recommend",status="422"} 1' in text
    assert 'clubcascade_feedback_total{model="default",outcome="applied"} 1' in text
    assert 'clubcascade_model{counter="learned",model="default"} 1' in text
    assert "clubcascade_snapshot_failed 0" in text and "clubcascade_position 2" in text
    for line in text.splitlines():
        assert re.fullmatch(r"(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [0-9.e+-]+)", line), line


def test_pages_need_nothing_from_elsewhere(client):
    for path in ("/docs", "/ui"):
        page = client.get(path)
        assert page.status_code == 200 and "text/html" in page.headers["content-type"]
        assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", page.text)
    assert client.get("/openapi.json").json()["openapi"] == "3.1.0"


# -- what is refused -------------------------------------------------------------------------------

DEEP = "[" * 100_000 + "]" * 100_000
BAD_BODIES = [
    (b"", 400),
    (b"{", 400),
    (b"null", 422),
    (b"[]", 422),
    (b'"text"', 422),
    (b'{"user":"\xff\xfe","k":1}', 400),
    (b'{"user":"\\ud800","k":1}', 400),
    (b'{"user":"a\\u0000","k":1}', 422),
    (b'{"user":"a","k":NaN}', 400),
    (b'{"user":"a","k":Infinity}', 400),
    (b'{"user":"a","k":1e400}', 422),
    (b'{"user":"a","k":99999999999999999999999999}', 422),
    (b'{"user":99999999999999999999999999,"k":1}', 422),
    (b'{"user":1.5,"k":1}', 422),
    (b'{"user":null,"k":1}', 422),
    (b'{"user":true,"k":1}', 422),
    (b'{"user":["a"],"k":1}', 422),
    (b'{"user":"a"}', 422),
    (b'{"user":"a","k":0}', 422),
    (b'{"user":"a","k":-1}', 422),
    (b'{"user":"a","k":true}', 422),
    (b'{"user":"a","k":"1"}', 422),
    (b'{"user":"a","k":1001}', 422),
    (b'{"user":"a","k":1,"unknown":1}', 422),
    (b'{"user":"a","k":1,"items":[]}', 422),
    (b'{"user":"a","k":1,"items":[[]]}', 422),
    (b'{"user":"a","k":1,"items":[[1,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[1,0,0],[1,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[1,0,0,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[1,1,1]]}', 422),
    (b'{"user":"a","k":1,"items":[[1e308,1e308,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[NaN,0,0]]}', 400),
    (b'{"user":"a","k":1,"items":[["1",0,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[null,0,0]]}', 422),
    (b'{"user":"a","k":2,"items":[[0.5,0,0]]}', 422),
    (b'{"user":"a","k":1,"items":[[0.5,0,0]],"ids":["x","y"]}', 422),
    (b'{"user":"a","k":1,"items":[[0.5,0,0],[0,0,0]],"ids":["x","x"]}', 422),
    (b'{"user":"a","k":1,"ids":["x"]}', 422),
    (b'{"user":"a","k":1,"candidates":[]}', 422),
    (b'{"user":"a","k":1,"candidates":["never"]}', 422),
    (b'{"user":"a","k":1,"candidates":["item 0","item 0"]}', 422),
    (b'{"user":"a","k":1,"items":[[0.5,0,0]],"candidates":["item 0"]}', 422),
    (b'{"user":"a","k":1,"request_id":""}', 422),
    (b'{"user":"' + b"x" * 201 + b'","k":1}', 422),
    (b'{"user":"a","k":1,"items":' + DEEP.encode() + b"}", (400, 422)),
    (DEEP.encode(), (400, 422)),
]


def test_nonsense_changes_nothing_and_is_no_fault_of_ours(web):
    client, service = web
    stock(client)
    digest, decisions = (
        service.shop.digest(),
        service.shop._store.last_decision(service.shop.server),
    )
    paths = ["/v1/default/recommend", "/v1/default/feedback"]
    for body, expected in BAD_BODIES:
        answer = client.post(paths[0], content=body)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        assert answer.status_code in wanted, (body[:80], answer.text)
        error = answer.json()["error"]
        assert set(error) == {"code", "field", "reason", "hint"} and error["reason"]
        for method, path in (
            ("POST", paths[1]),
            ("PUT", "/v1/default/items"),
            ("DELETE", "/v1/default/items"),
            ("PUT", "/v1/models/other"),
        ):
            answer = client.request(method, path, content=body)
            assert 400 <= answer.status_code < 500, (method, path, body[:80], answer.text)
    assert service.shop.digest() == digest
    assert service.shop.models == ("default",)
    assert service.shop._store.last_decision(service.shop.server) == decisions


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"user": "a", "k": "x"}, "k"),
        ({"user": "a", "k": 1, "items": [[1, 1, 1]]}, "items"),
        ({"user": "a", "k": 1, "items": [[0, 0, "x"]]}, "items[0][2]"),
        ({"user": "a", "k": 9, "items": [[0, 0, 0]]}, "k"),
        ({"user": "a\0", "k": 1}, "user"),
    ],
)
def test_errors_name_the_field(client, body, field):
    answer = client.post("/v1/default/recommend", json=body)
    assert answer.status_code == 422
    assert (answer.json()["error"]["field"] or "").startswith(field.split("[")[0])


def test_wrong_addresses_and_methods(client):
    assert client.get("/nowhere").json()["error"]["code"] == "not_found"
    wrong = client.get("/v1/default/recommend")
    assert wrong.status_code == 405 and wrong.json()["error"]["code"] == "method_not_allowed"
    assert recommend(client, model="other").status_code == 404
    assert recommend(client, model="%2e%2e").status_code == 404


def test_limits(tmp_path):
    limits = Limits(body=2_000, candidates=3, batch=2, rate=0)
    with serving(tmp_path, limits=limits) as (client, _):
        answer = client.post("/v1/default/recommend", content=b" " * 3_000)
        assert answer.status_code == 413

        def slowly():
            for _ in range(30):
                yield b" " * 100

        assert client.post("/v1/default/recommend", content=slowly()).status_code == 413
        assert recommend(client, k=1, items=[[0, 0, 0]] * 4).status_code == 413
        piece = {"decision_id": "x", "click": 0}
        answer = client.post("/v1/default/feedback", json={"feedback": [piece] * 3})
        assert answer.status_code == 413 and answer.json()["error"]["field"] == "feedback"


CHUNKED = b"POST /v1/default/recommend HTTP/1.1\r\nhost: localhost\r\n"
CHUNKED += b"transfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("keys", [False, True])  # refused for its size, or for want of a key
def test_a_refused_body_of_unknown_length_leaves_the_connection_in_step(tmp_path, keys):
    chunk, end = b"64\r\n%b\r\n" % (b" " * 100), b"0\r\n\r\n"
    following = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    with serving(tmp_path, keys=keys, limits=Limits(body=2_000, rate=0)) as (client, _):
        place = client.base_url.host, client.base_url.port
        with socket.create_connection(place, timeout=20) as sock:
            for part in (CHUNKED + 25 * chunk, chunk + end, following):
                sock.sendall(part)
                time.sleep(0.2)
            answers = b"".join(iter(lambda: sock.recv(65536), b""))
    refused = b"401" if keys else b"413"
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [refused, b"200"]


def test_an_endless_body_is_hung_up_on(tmp_path):
    with serving(tmp_path, limits=Limits(body=2_000, rate=0)) as (client, _):
        place = client.base_url.host, client.base_url.port
        with socket.create_connection(place, timeout=60) as sock:
            sock.sendall(CHUNKED)
            with pytest.raises(OSError):
                for _ in range(10_000):
                    sock.sendall(b"400\r\n%b\r\n" % (b" " * 1024))
                    time.sleep(0.0001)


def test_the_rate_of_a_key_is_limited(tmp_path):
    with serving(tmp_path, limits=Limits(rate=1)) as (client, _):
        statuses = [client.get("/v1/models").status_code for _ in range(2)]
        assert statuses == [200, 200]
        for _ in range(1000):  # a slow machine is given its two a second now and then
            if client.get("/v1/models").status_code == 429:
                break
        else:
            raise AssertionError("any number of requests was taken")
        assert client.get("/healthz").status_code == 200
        time.sleep(1.2)
        assert client.get("/v1/models").status_code == 200


# -- keys ------------------------------------------------------------------------------------------

CALLS = [
    ("POST", "/v1/{m}/recommend", "write"),
    ("POST", "/v1/{m}/feedback", "write"),
    ("PUT", "/v1/{m}/items", "write"),
    ("DELETE", "/v1/{m}/items", "write"),
    ("PUT", "/v1/models/{m}", "admin"),
    ("GET", "/v1/models/{m}", "read"),
    ("GET", "/v1/models/{m}/users/alice", "read"),
    ("GET", "/v1/models/{m}/clusters", "read"),
    ("GET", "/v1/models/{m}/digest", "read"),
    ("GET", "/v1/models/{m}/activity", "read"),
    ("GET", "/v1/models/{m}/items", "read"),
    ("GET", "/v1/models/{m}/items/tea", "read"),
    ("PUT", "/v1/models/{m}/items/tea", "write"),
    ("DELETE", "/v1/models/{m}/items/tea", "write"),
    ("GET", "/v1/models/{m}/users", "read"),
    ("DELETE", "/v1/models/{m}/users/nobody", "admin"),
    ("POST", "/v1/models/{m}/snapshot", "admin"),
]


def test_every_endpoint_asks_for_the_right_key(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    admin = keys.add("admin")
    mine = {role: keys.add(role, ["default"]) for role in ("read", "write", "admin")}
    other = keys.add("admin", ["news"])
    with serving(tmp_path, keys=True) as (client, service):
        assert client.put(
            "/v1/models/news", json={"n_features": 2}, headers=bearer(admin)
        ).is_success
        learned = service.shop.model().counters
        order = ["read", "write", "admin"]
        for method, path, role in CALLS:
            here, missing = path.format(m="default"), path.format(m="never")
            for headers in ({}, bearer("cc_wrong"), {"Authorization": "Basic x"}):
                assert client.request(method, here, headers=headers).status_code == 401
            for kind, token in mine.items():
                status = client.request(method, here, headers=bearer(token)).status_code
                assert (status == 403) == (order.index(kind) < order.index(role)), (path, kind)
            theirs = client.request(method, here, headers=bearer(other))
            nothing = client.request(method, missing, headers=bearer(other))
            assert theirs.status_code == nothing.status_code == 403
            # no word tells whether the model exists
            assert theirs.text.replace("default", "X") == nothing.text.replace("never", "X")
        assert service.shop.model().counters == learned
        listed = client.get("/v1/models", headers=bearer(other)).json()
        assert listed == {"models": ["news"]}
        told = client.get("/metrics", headers=bearer(other)).text
        assert 'model="news"' in told and 'model="default"' not in told
        for path in ("/healthz", "/readyz", "/docs", "/ui", "/openapi.json"):
            assert client.get(path).status_code == 200


def test_a_decision_of_another_model_is_unknown(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    admin, other = keys.add("admin"), keys.add("write", ["news"])
    with serving(tmp_path, keys=True) as (client, _):
        client.put("/v1/models/news", json={"n_features": D}, headers=bearer(admin))
        body = {"user": "a", "k": 1, "items": ITEMS.tolist()}
        found = client.post("/v1/default/recommend", json=body, headers=bearer(admin)).json()
        click = {"decision_id": found["decision_id"], "click": 0}
        answer = client.post("/v1/news/feedback", json=click, headers=bearer(other))
        assert answer.json()["outcome"] == "unknown"
        answer = client.post("/v1/default/feedback", json=click, headers=bearer(admin))
        assert answer.json()["outcome"] == "applied"


def test_without_keys_a_page_from_elsewhere_is_refused(client):
    for headers in ({"Origin": "https://elsewhere.example"}, {"Host": "elsewhere.example"}):
        answer = client.get("/v1/models", headers=headers)
        assert answer.status_code == 403 and "this machine" in answer.json()["error"]["reason"]
    for headers in ({"Origin": "http://localhost:8080"}, {"Host": "[::1]:8080"}):
        assert client.get("/v1/models", headers=headers).status_code == 200


def test_a_removed_key_is_refused(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    token = keys.add("read")
    with serving(tmp_path, keys=True) as (client, service):
        assert client.get("/v1/models", headers=bearer(token)).status_code == 200
        keys.remove(keys.all()[0].id)
        service.guard._looked = 0.0
        assert client.get("/v1/models", headers=bearer(token)).status_code == 401


# -- times -----------------------------------------------------------------------------------------


def test_not_ready_before_the_store_is_read(tmp_path):
    gate = threading.Event()

    def opener():
        gate.wait(30)
        return shop(tmp_path / "store")

    service = Service(opener, None, Limits(rate=0))

    async def go():
        transport = httpx.ASGITransport(service)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            opening = asyncio.create_task(service.open())
            await asyncio.sleep(0.05)
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/readyz")).status_code == 503
            answer = await client.get("/v1/models")
            assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
            assert answer.json()["error"]["code"] == "starting"
            gate.set()
            await opening
            assert (await client.get("/readyz")).status_code == 200
            await service.close()
            assert (await client.get("/v1/models")).status_code == 503

    asyncio.run(go())


def test_a_full_disk_is_a_503_and_lists_go_on(tmp_path, monkeypatch):
    disk = FaultyDisk()
    monkeypatch.setattr(storage, "SqliteStore", partial(SqliteStore, vfs=disk.name))
    with serving(tmp_path) as (client, _):
        ids = [recommend(client).json()["decision_id"] for _ in range(2)]
        disk.fail_writes()
        click = {"decision_id": ids[0], "click": 0}
        answer = client.post("/v1/default/feedback", json=click)
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "unavailable"
        assert client.post("/v1/default/feedback", json={"feedback": [click]}).status_code == 503
        assert client.get("/readyz").status_code == 503
        assert recommend(client).status_code == 200
        disk.heal()
        answer = client.post("/v1/default/feedback", json=click)
        assert answer.json()["outcome"] == "applied"
        assert client.get("/readyz").status_code == 200


def test_a_slow_body_is_cut_off(tmp_path):
    with serving(tmp_path, limits=Limits(seconds=0.2, rate=0)) as (_, service):
        told = []

        async def receive():
            await asyncio.sleep(600)

        async def send(message):
            told.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/default/feedback",
            "headers": [],
            "query_string": b"",
        }
        asyncio.run(asyncio.wait_for(service(scope, receive, send), 60))
        assert told[0]["status"] == 408
        assert json.loads(told[1]["body"])["error"]["code"] == "timeout"
