import asyncio

import httpx
import pytest

import clubcascade as cc
from clubcascade.service.client import ServiceError
from clubcascade.service.routes import ROUTES
from tests.service.shops import ITEMS, NAMES
from tests.service.web import serving

ROWS = dict(zip(NAMES, ITEMS, strict=True))


class Flaky(httpx.HTTPTransport):
    """Sends a request, then loses the answer, or refuses to send; a few times."""

    def __init__(self, *faults):
        super().__init__()
        self.faults = list(faults)
        self.sent = []

    def handle_request(self, request):
        fault = self.faults.pop(0) if self.faults else None
        self.sent.append(request.read())
        if fault == "unsent":
            raise httpx.ConnectError("refused")
        if fault == "busy":
            return httpx.Response(503, json={"error": {"code": "unavailable", "reason": "x"}})
        answer = super().handle_request(request)
        if fault == "lost":
            answer.read()
            raise httpx.ReadTimeout("the answer was lost")
        return answer


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("clubcascade.service.client._pause", lambda _: 0.0)


def test_both_clients_do_the_same(tmp_path):
    with serving(tmp_path) as (client, service):
        url = str(client.base_url)
        with cc.Client(url) as one:
            assert one.register_items(ROWS) == 8
            first = one.recommend("alice", 3)
            assert one.feedback(first.id, 0) is cc.Outcome.APPLIED
            assert one.feedback_many([(first.id, 0), (first.id, None)]) == ["duplicate", "conflict"]
            loose = one.recommend("bob", 2, ITEMS, ids=NAMES)
            assert set(loose.items) <= set(NAMES) and len(loose.scores) == 2

        async def same():
            async with cc.AsyncClient(url) as two:
                assert await two.register_items(ROWS) == 8
                decision = await two.recommend("alice", 3, candidates=NAMES[:4])
                assert await two.feedback(decision.id, 1) == "applied"
                assert await two.feedback_many([(decision.id, 1)]) == ["duplicate"]
                assert await two.remove_items(NAMES[:2]) == 2
                card = await two.get("/v1/models/default/users/alice")
                assert card["looked"] == 3

        asyncio.run(same())
        assert service.shop.model().counters["learned"] == 2


def drive(client):
    """Yield what every method of a client returns, by its name."""
    yield "models", client.models()
    yield "create_model", client.create_model("news", "c3_ucb", n_features=3, params={"beta": 0.5})
    arms = {"a": {"model": "news"}, "b": {"model": "news", "explore": 0}}
    yield "put_experiment", client.put_experiment("a-test", arms)
    yield "experiments", client.experiments()
    yield "experiment", client.experiment("a-test")
    yield "delete_experiment", client.delete_experiment("a-test")
    yield "delete_model", client.delete_model("news")
    yield "register_items", client.register_items(ROWS, metadata={NAMES[0]: {"price": 3}})
    yield "put_item", client.put_item("a/b c?", ITEMS[0], metadata={"price": 9})
    yield "item", client.item("a/b c?")
    yield "remove_item", client.remove_item("a/b c?")
    yield "items", client.items(offset=0, limit=2)
    asked = {"filter": "price < 5", "exclude_seen": True, "greedy": True, "metadata": True}
    yield "recommend", client.recommend("al/ice", 3, request_id="r1", **asked)
    yield "feedback_many", client.feedback_many([("1-0011223344556677", 0)])
    yield "feedback", client.feedback("1-0011223344556677", 0)
    yield "users", client.users(limit=5)
    yield "forget_user", client.forget_user("al/ice")
    yield "info", client.info()
    yield "clusters", client.clusters()
    yield "activity", client.activity()
    yield "digest", client.digest()
    yield "snapshot", client.snapshot()
    yield "remove_items", client.remove_items(NAMES[:2])
    yield "get", client.get("/readyz")


def test_both_clients_reach_every_address(tmp_path):
    with serving(tmp_path) as (client, service):
        url = str(client.base_url)
        with cc.Client(url) as one:
            told = dict(drive(one))
            decision = one.recommend("alice", 1)
            one.feedback(decision.id, 0)
            assert one.user("alice")["looked"] == 1

        async def same():
            async with cc.AsyncClient(url) as two:
                found = {name: await answer for name, answer in drive(two)}
                assert (await two.user("alice"))["looked"] == 1
                return found

        again = asyncio.run(same())
        reached = {name for name, status in service.metrics._children if status < 300}
    assert told["models"] == ["default"]
    assert told["create_model"]["policy"] == "c3_ucb"
    assert told["experiments"] == ["a-test"] and told["experiment"]["experiment"] == "a-test"
    assert (told["register_items"], told["put_item"], told["remove_item"]) == (8, 9, True)
    assert told["item"]["metadata"] == {"price": 9} and told["items"]["total"] == 8
    assert told["recommend"].items == (NAMES[0],)
    assert told["recommend"].metadata == ({"price": 3},)
    assert told["feedback"] is cc.Outcome.UNKNOWN and told["feedback_many"] == ["unknown"]
    assert told["remove_items"] == 2 and told["get"]["status"] == "ready"
    assert again.keys() == told.keys()
    assert again["recommend"].items == told["recommend"].items
    own = {"healthz", "readyz", "tell_metrics"}
    assert {route.name for route in ROUTES} - own <= reached
    public = {name for name in vars(cc.Client) if not name.startswith("_")}
    assert public == {name for name in vars(cc.AsyncClient) if not name.startswith("_")}
    assert public == {*told, "user", "close"}


@pytest.mark.parametrize("fault", ["lost", "unsent", "busy"])
def test_a_retry_counts_once(tmp_path, quick, fault):
    with serving(tmp_path) as (client, service):
        transport = Flaky(fault, fault, None, fault)
        with cc.Client(str(client.base_url), transport=transport) as flaky:
            decision = flaky.recommend("alice", 3, ITEMS)
            outcome = flaky.feedback(decision.id, 1)
        assert outcome == ("duplicate" if fault == "lost" else "applied")
        assert len(set(transport.sent[:3])) == 1  # the same request id every time
        assert service.shop.model().counters["learned"] == 1
        service.shop.look_after()
        assert len(service.shop._store.every_decision(0, 10)) == 1


def test_errors_are_told(tmp_path, quick):
    with serving(tmp_path) as (client, _):
        with cc.Client(str(client.base_url)) as one:
            with pytest.raises(ServiceError, match="422 invalid: k must be at most") as caught:
                one.recommend("alice", 99, ITEMS)
            assert caught.value.field == "k"
            with pytest.raises(cc.errors.ClubCascadeError, match="404 not_found"):
                one.get("/v1/models/never")
            (error,) = one.feedback_many([(one.recommend("alice", 1, ITEMS).id, 5)])
            assert isinstance(error, ServiceError) and error.field == "click"
    with cc.Client("http://127.0.0.1:9", retries=1) as nowhere:
        with pytest.raises(ServiceError, match="unreachable"):
            nowhere.get("/healthz")
