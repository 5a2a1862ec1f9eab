"""A model that cannot be read is put aside; the others lose nothing."""

import logging

import numpy as np
import pytest

from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument, ModelFileError, StoreDamaged, StoreError
from clubcascade.policies import POLICIES
from tests.service.shops import ITEMS, D, play, shop
from tests.service.web import bearer, serving, stock


class Poisoned(Policy):
    """A policy whose state is finite for ``good`` updates only; such a state is not taken over."""

    def __init__(self, *, n_features: int, good: int = 3) -> None:
        self.n_features, self.good = n_features, good
        self._total = np.zeros(1)

    def recommend(self, user, items, k):
        return np.arange(k)

    def update(self, user, shown, click):
        self._total[0] += 1.0 if self._total[0] < self.good else np.nan

    def state(self):
        return {"total": self._total.copy()}

    def load_state(self, state):
        if not np.isfinite(state["total"]).all():
            raise ModelFileError("state must be finite, got NaN")
        self._total = np.array(state["total"])

    @classmethod
    def examples(cls):
        yield cls(n_features=3)


@pytest.fixture(autouse=True)
def poisoned(monkeypatch):
    monkeypatch.setitem(POLICIES._known, "poisoned", Poisoned)


def test_a_poisoned_model_costs_the_others_nothing(tmp_path, caplog):
    s = shop(tmp_path)
    s.create_model("bad", Poisoned(n_features=D))
    play(s, 5)
    kept = [s.recommend("alice", 3, ITEMS, model="bad") for _ in range(2)]
    for _ in range(2):
        play(s, 6)
        try:
            play(s, 6, model="bad")
        except StoreError as error:
            assert "is put aside" in str(error)
        try:
            s.snapshot()
        except StoreError as error:
            assert "holds a model that cannot be read" in str(error)
        s.look_after()
    assert s.aside == {"bad": "state must be finite, got NaN"} and s.models == ("default",)
    assert "model 'bad' is put aside" in caplog.text
    for call in (
        lambda: s.recommend("alice", 3, ITEMS, model="bad"),
        lambda: s.model("bad"),
        lambda: s.feedback(kept[0].id, 0),
        lambda: s.register_items(["a"], ITEMS[:1], model="bad"),
        lambda: s.create_model("bad", n_features=D),
    ):
        with pytest.raises(StoreDamaged, match="model 'bad' is put aside: state must be finite"):
            call()
    for _ in range(3):  # the others' snapshots go on, and count
        play(s, 4)
        s.snapshot()
        s.look_after()
    digest = s.digest()
    s.close()
    caplog.clear()
    with shop(tmp_path) as s:
        assert s.digest() == digest and s.models == ("default",)
        assert "bad" in s.aside and "model 'bad' is put aside" in caplog.text
        assert any("put aside" in note for note in s.notes)
        assert next(s._store.events(0))[0] == 1  # what is the model's stays in the log
        play(s, 3)


def test_a_snapshot_counts_once_it_was_read_back(tmp_path, monkeypatch):
    """Snapshots that the store does not give back as they were: the older ones stay."""
    s = shop(tmp_path)
    play(s, 4)
    good = [s.snapshot()]
    play(s, 4)
    good.append(s.snapshot())
    load = s._store.load_snapshot

    def damaged(number):
        raise StoreDamaged(f"snapshot {number} cannot be used")

    monkeypatch.setattr(s._store, "load_snapshot", damaged)
    for _ in range(3):
        play(s, 4)
        with pytest.raises(StoreDamaged, match="cannot be used"):
            s.snapshot()
        s.look_after()
        assert "cannot be used" in s.snapshot_problem
    assert set(good) < set(s._store.snapshots())
    monkeypatch.setattr(s._store, "load_snapshot", load)
    last = s.snapshot()
    s.look_after()
    assert s.snapshot_problem is None and s._store.snapshots()[-1] == good[1]
    assert s._store.snapshots()[0] == last
    digest = s.digest()
    s.close()
    with shop(tmp_path) as s:
        assert s.digest() == digest


def test_a_store_whose_snapshots_hold_an_unreadable_model_is_opened(tmp_path, monkeypatch):
    """As an earlier version left it: snapshots of NaN."""
    s = shop(tmp_path)
    s.create_model("bad", Poisoned(n_features=D))
    with monkeypatch.context() as patch:
        patch.setattr(
            Poisoned, "load_state", lambda self, state: vars(self).update(_total=state["total"])
        )
        for _ in range(2):
            play(s, 6)
            play(s, 6, model="bad")
            s.snapshot()
        s.look_after()
        digest = s.digest("default")
    s.close()
    with shop(tmp_path) as s:
        assert s.digest("default") == digest and list(s.aside) == ["bad"]
        play(s, 6)
        s.snapshot()
        digest = s.digest()
    with shop(tmp_path) as s:
        assert s.digest() == digest and list(s.aside) == ["bad"]


def test_a_model_whose_policy_is_gone_is_put_aside(tmp_path, monkeypatch):
    s = shop(tmp_path)
    s.create_model("bad", Poisoned(n_features=D, good=1000))
    play(s, 6)
    play(s, 6, model="bad")
    digest, whole = s.digest("default"), s.digest()
    s.close()
    with monkeypatch.context() as patch:
        patch.delitem(POLICIES._known, "poisoned")
        with shop(tmp_path) as s:
            assert s.digest("default") == digest and "bad" in s.aside
    with shop(tmp_path) as s:  # it is back, and so is all that it learned
        assert not s.aside and s.digest() == whole


def test_the_default_model_may_be_the_one(tmp_path, monkeypatch):
    s = shop(tmp_path, policy=Poisoned(n_features=D))
    s.create_model("good", n_features=D)
    play(s, 6, model="good")
    play(s, 6)
    s.close()
    with shop(tmp_path, policy=Poisoned(n_features=D)) as s:
        assert s.models == ("good",) and list(s.aside) == ["default"]
        play(s, 3, model="good")


def test_over_http_its_own_address_says_so(tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    with serving(tmp_path, keys=True) as (client, service):
        token = service.guard._keys.add("admin")
        client.headers.update(bearer(token))
        stock(client)
        wrong = {"policy": "cascade_lin_ts", "n_features": D, "params": {"sigma": 1e-300}}
        refused = client.put("/v1/models/bad", json=wrong)
        assert refused.status_code == 422 and "sigma must be" in refused.json()["error"]["reason"]
        made = client.put("/v1/models/bad", json={"policy": "poisoned", "n_features": D})
        assert made.status_code == 201
        for _ in range(6):
            body = {"user": "a", "k": 2, "items": ITEMS.tolist()}
            decision = client.post("/v1/bad/recommend", json=body).json()
            sent = {"decision_id": decision["decision_id"], "click": 0}
            assert client.post("/v1/bad/feedback", json=sent).json()["outcome"] == "applied"
        assert client.post("/v1/models/bad/snapshot").status_code == 503
        for answer in (
            client.get("/v1/models/bad"),
            client.post("/v1/bad/recommend", json=body),
            client.post("/v1/bad/feedback", json=sent),
        ):
            assert answer.status_code == 503
            assert "'bad' is put aside" in answer.json()["error"]["reason"]
        ready = client.get("/readyz", headers={"Authorization": ""})
        assert ready.status_code == 200 and ready.json()["aside"] == 1
        assert "bad" not in ready.text  # names are for those who have the key
        assert client.get("/v1/models").json() == {"models": ["default"]}
        assert client.post("/v1/default/recommend", json={"user": "a", "k": 2}).status_code == 200
        assert client.post("/v1/models/default/snapshot").status_code == 200


def test_parameters_that_would_poison_are_refused(tmp_path):
    with shop(tmp_path) as s, pytest.raises(InvalidArgument, match="sigma must be"):
        s.create_model("bad", POLICIES["cascade_lin_ts"](n_features=D, sigma=1e-300))
