"""Ways to lose or to learn too much, found from outside; each is closed."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from functools import partial

import httpx
import pytest

from clubcascade.errors import StoreUnavailable
from clubcascade.service.app import Service
from clubcascade.service.decision import parse_id
from clubcascade.service.http import Limits
from clubcascade.service.keys import KeyFile
from tests.service.shops import ITEMS, NAMES, Clock, D, play, shop
from tests.service.test_server import COMMAND
from tests.service.web import bearer, serving, stock


def test_decisions_in_memory_are_bounded_by_bytes(tmp_path, monkeypatch):
    with shop(tmp_path) as s:
        monkeypatch.setattr(s._recent, "_room", 200_000)
        ids = [s.recommend("alice", 8, ITEMS).id for _ in range(400)]
        s.look_after()
        assert s._recent._bytes <= 200_000 and len(s._recent._decisions) < 200
        assert s.feedback(ids[0], 1) == "applied"  # it is read from the disk


def test_who_asks_faster_than_the_disk_writes_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr("clubcascade.service.decider.UNSAVED", 5_000)
    with shop(tmp_path) as s:
        append, most = s._store.append, []

        def slowly(group):
            time.sleep(0.02)
            return append(group)

        monkeypatch.setattr(s._store, "append", slowly)
        for _ in range(60):
            s.recommend("alice", 8, ITEMS)
            most.append(s._queue.quiet_bytes)
        assert max(most) < 10_000


def test_a_list_made_while_the_clock_was_ahead_keeps_no_other(tmp_path):
    clock = Clock()
    with shop(tmp_path, clock=clock, wait=60) as s:
        clock.now += 10**6
        s.recommend("alice", 2, ITEMS)
        s.look_after()
        clock.now -= 10**6
        old = s.recommend("alice", 2, ITEMS)
        s.look_after()
        clock.now += 121
        s.look_after()
        assert s.feedback(old.id, 0) == "unknown" and s.waiting == 1
        assert not s._store.decisions([parse_id(old.id)])


def test_readers_of_the_digest_do_not_slow_feedback_down(tmp_path):
    """However many ask, a model is copied about once a second."""
    with serving(tmp_path) as (client, service):
        stock(client)
        asked = []
        digest_at = service.shop.digest_at
        service.shop.digest_at = lambda name: asked.append(1) or digest_at(name)
        stop = threading.Event()

        def read():
            with httpx.Client(base_url=client.base_url, timeout=60) as mine:
                while not stop.is_set():
                    assert mine.get("/v1/models/default/digest").json()["position"] > 0

        readers = [threading.Thread(target=read) for _ in range(4)]
        begun = time.monotonic()
        for reader in readers:
            reader.start()
        play(service.shop, 60)
        stop.set()
        for reader in readers:
            reader.join()
        assert len(asked) <= 2 + time.monotonic() - begun
        told = client.get("/v1/models/default/digest").json()
        time.sleep(1.1)
        told = client.get("/v1/models/default/digest").json()
        assert (told["position"], told["digest"]) == digest_at("default")


ADD = """
import sys
from pathlib import Path
from clubcascade.service.keys import KeyFile
keys = KeyFile(Path(sys.argv[1]))
sys.stdin.readline()
print(keys.add("read"))
"""


def test_keys_that_are_added_at_once_are_all_there(tmp_path):
    path = tmp_path / "keys.json"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    tokens = [child.communicate(timeout=120)[0].strip() for child in children]
    keys = KeyFile(path)
    assert len(set(tokens)) == 6 and all(keys.find(token) for token in tokens)


def test_a_key_learns_nothing_of_other_models(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    admin, mine = keys.add("admin"), keys.add("admin", ["mine"])
    with serving(tmp_path, keys=True) as (client, _):
        client.put("/v1/models/secret", json={"n_features": 2}, headers=bearer(admin))
        for method, path in (
            ("GET", "/v1/models/mine"),
            ("POST", "/v1/mine/recommend"),
            ("POST", "/v1/mine/feedback"),
            ("PUT", "/v1/mine/items"),
            ("GET", "/v1/models/mine/digest"),
            ("DELETE", "/v1/models/mine"),
        ):
            body = (
                {"user": "a", "k": 1} if "recommend" in path else {"decision_id": "x", "click": 0}
            )
            body = {"items": [{"id": 1, "features": [1.0]}]} if "items" in path else body
            answer = client.request(method, path, json=body, headers=bearer(mine))
            assert answer.status_code == 404, (path, answer.text)
            assert "secret" not in answer.text and "default" not in answer.text


@pytest.mark.parametrize("path", ["/ui/", "/v1/models/", "/v1/default/recommend/", "/docs/"])
def test_trailing_slashes_lead_nowhere(tmp_path, path):
    with serving(tmp_path) as (client, _):
        answer = client.get(path, headers={"Host": "elsewhere.example"}, follow_redirects=False)
        assert answer.status_code in (403, 404) and "location" not in answer.headers


def test_a_damaged_file_of_keys_is_told_without_its_path(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    token = keys.add("read")
    with serving(tmp_path, keys=True) as (client, service):
        (tmp_path / "keys.json").write_text("{")
        service.guard._looked = 0.0
        answer = client.get("/v1/models", headers=bearer(token))
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text and "keys.json" not in answer.text


def test_a_model_that_would_not_fit_is_refused_at_once(tmp_path):
    with serving(tmp_path) as (client, _):
        begun = time.monotonic()
        for cohorts in (1_000_000, 21_000):
            params = {"max_cohorts": cohorts}
            answer = client.put("/v1/models/big", json={"n_features": 20, "params": params})
            assert answer.status_code == 422 and answer.json()["error"]["field"] == "max_cohorts"
            assert "at most 20971 with 20 features" in answer.text
        assert time.monotonic() - begun < 60  # to make the cohorts takes minutes, and all memory


def test_limits_are_those_that_are_set(tmp_path):
    limits = Limits(rate=0, k=5, features=4, batch=2, candidates=3)
    with serving(tmp_path, limits=limits) as (client, _):
        body = {"user": "a", "k": 6, "items": ITEMS[:3].tolist()}
        assert client.post("/v1/default/recommend", json=body).json()["error"]["field"] == "k"
        assert client.put("/v1/models/x", json={"n_features": 5}).status_code == 413
        item = {"id": "a", "features": [0.1] * 5}
        assert client.put("/v1/default/items", json={"items": [item]}).status_code == 413
    with serving(tmp_path, limits=Limits(rate=0, k=2_000, features=2_000)) as (client, _):
        made = client.put("/v1/models/wide", json={"n_features": 1_500, "policy": "random"})
        assert made.status_code in (201, 422), made.text
        rows = [[0.01, 0.0, 0.0]] * 1_500
        body = {"user": "a", "k": 1_200, "items": rows}
        assert client.post("/v1/default/recommend", json=body).status_code == 200


def test_a_failing_snapshot_is_shown(tmp_path, monkeypatch):
    with serving(tmp_path) as (client, service):
        play(service.shop, 2)
        monkeypatch.setattr(
            service.shop._store, "save_snapshot", lambda *_: (_ for _ in ()).throw(_full())
        )
        assert client.post("/v1/models/default/snapshot").status_code == 503
        assert "No space" in client.get("/readyz").json()["snapshot"]
        assert "clubcascade_snapshot_failed 1" in client.get("/metrics").text
        monkeypatch.undo()
        assert client.post("/v1/models/default/snapshot").status_code == 200
        assert client.get("/readyz").json()["snapshot"] is None


def _full():
    return StoreUnavailable("No space left on device")


def test_pages_are_strict(tmp_path):
    with serving(tmp_path) as (client, _):
        for path in ("/", "/ui", "/docs"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert answer.status_code == 200 and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert " style=" not in answer.text and " onclick=" not in answer.text
        assert client.get("/healthz").headers["x-content-type-options"] == "nosniff"


def test_no_key_is_made_for_a_store_that_does_not_open(tmp_path):
    (tmp_path / "store").write_text("a file")
    done = subprocess.run(
        [sys.executable, "-m", "clubcascade", "serve", "--dir", tmp_path, "--port", "0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and "must be a folder" in done.stderr
    assert done.stdout == "" and not (tmp_path / "keys.json").exists()


def test_settings_come_from_the_environment_and_logs_are_json(tmp_path):
    environment = {
        "CLUBCASCADE_DIR": str(tmp_path),
        "CLUBCASCADE_PORT": "0",
        "CLUBCASCADE_N_FEATURES": str(D),
        "CLUBCASCADE_NO_AUTH": "1",
        "CLUBCASCADE_LIMIT_K": "2",
        "CLUBCASCADE_LOG_FORMAT": "json",
        "CLUBCASCADE_ACCESS_LOG": "1",
    }
    child = subprocess.Popen(
        [*COMMAND, "serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        url = re.search(r"http://\S+", child.stdout.readline())[0]
        until = time.monotonic() + 600
        while httpx.get(f"{url}/readyz", timeout=60).status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        body = {"user": "a", "k": 3, "items": ITEMS.tolist()}
        answer = httpx.post(f"{url}/v1/default/recommend", json=body)
        assert answer.json()["error"]["reason"] == "k must be at most 2, got 3"
        child.terminate()
        _, said = child.communicate(timeout=60)
        lines = [json.loads(line) for line in said.splitlines()]
        assert any("/v1/default/recommend 422" in line["message"] for line in lines)
    finally:
        child.kill()
        child.communicate()


def test_a_store_that_refuses_is_not_waited_for(tmp_path):
    (tmp_path / "store").write_text("a file")
    service = Service(partial(shop, tmp_path / "store"), None, Limits(rate=0))
    asyncio.run(asyncio.wait_for(service.open(), 60))
    assert isinstance(service.failure, StoreUnavailable)


def test_items_and_users_by_pages(tmp_path):
    with serving(tmp_path) as (client, service):
        stock(client)
        play(service.shop, 20)
        found = client.get("/v1/models/default/items?offset=6&limit=5").json()
        assert [item["id"] for item in found["items"]] == NAMES[6:] and found["total"] == 8
        assert found["items"][0]["features"] == pytest.approx(ITEMS[6].tolist())
        users = client.get("/v1/models/default/users?limit=2").json()
        assert len(users["users"]) == 2 and users["total"] == 5
        found = client.get("/v1/models/default/items?search=EM%205&limit=1").json()
        assert [item["id"] for item in found["items"]] == ["item 5"] and found["total"] == 1
        users = client.get("/v1/models/default/users?search=user&offset=4").json()
        assert len(users["users"]) == 1 and users["total"] == 5
        assert client.get("/v1/models/default/users?search=%C3%A4").json()["total"] == 0
        for wrong in ("offset=-1", "limit=x", "limit=10001", "search=" + "x" * 201):
            assert client.get(f"/v1/models/default/items?{wrong}").status_code == 422
        one = "/v1/models/default/items/item%200"
        assert client.put(one, json={"features": [0.1, 0.2, 0.3]}).json() == {"items": 8}
        assert client.get(one).json()["features"] == [0.1, 0.2, 0.3]
        assert client.delete(one).json() == {"removed": 1}
        assert client.get(one).status_code == 404
        assert client.delete("/v1/models/default/users/user 1").status_code == 200
        assert client.get("/v1/models/default/users/user 1").status_code == 404
        assert client.get("/v1/models/default/users").json()["total"] == 4
        assert client.delete("/v1/models/default").status_code == 200
        assert client.get("/v1/models").json() == {"models": []}
