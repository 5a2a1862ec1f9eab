import asyncio

import httpx
import pytest

import clubcascade as cc
from clubcascade.service.client import ServiceError
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
        service.shop.digest()
        assert service.shop._store.last_decision() == 1


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
