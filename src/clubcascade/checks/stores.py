"""What every store promises: a class of tests for those who write one.

Subclass :class:`StoreChecks` in a test file, and give it a fixture ``opener``: a function that
opens a store, always of the same place, which is empty at first.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from clubcascade.errors import StoreDamaged, StoreUnavailable
from clubcascade.storage import Entry, Group, Row, Store, checksum
from clubcascade.storage import snapshot_codec as snapshots
from clubcascade.storage.base import BLANK, OWN

Opener = Callable[[], Store]


def _row(number: int, at: int = 1_000, request: str | None = None, payload: bytes = b"x") -> Row:
    return Row(number, at, request, payload)


def _events(*names: bytes) -> Group:
    return Group(events=[Entry(name) for name in names])


def _answer(number: int, outcome: str = "clicked", payload: bytes = b"x") -> Entry:
    return Entry(b"answer to %d" % number, number, outcome, checksum(number, payload))


def _raises(kind: type[Exception], call: Callable[[], Any], words: str = "") -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}")


class StoreChecks:
    """The promises, a test each."""

    def test_a_new_store_is_empty(self, opener: Opener) -> None:
        """Nothing is there, and nothing was wrong."""
        store = opener()
        assert store.head() == store.first() == store.waiting() == store.last_decision(1) == 0
        assert store.decisions([1]) == [] and store.by_request("x") is None
        assert list(store.events(0)) == [] and store.snapshots() == [] and store.notes == []
        store.close()

    def test_each_opening_has_a_number_of_its_own(self, opener: Opener) -> None:
        """Also those that are open at the same time."""
        stores = [opener(), opener()]
        assert [store.server for store in stores] == [1, 2]
        stores[0].close()
        stores.append(opener())
        assert stores[2].server == 3
        assert not stores[1].lives(1) or stores[1].remote
        assert stores[1].lives(3) and stores[2].lives(2)
        for store in stores[1:]:
            store.close()

    def test_what_was_appended_is_there_after_a_restart(self, opener: Opener) -> None:
        """Events with their positions, decisions with their answers."""
        store = opener()
        assert store.append(Group(decisions=[_row(1), _row(2, request="news/7")])) == 0
        assert store.append(Group(events=[Entry(b"one"), _answer(1)])) == 1
        store.close()
        again = opener()
        assert list(again.events(0)) == [(1, b"one"), (2, b"answer to 1")]
        assert list(again.events(1)) == [(2, b"answer to 1")]
        assert list(again.events(0, 1)) == [(1, b"one")]
        assert again.decisions([1]) == [_row(1)._replace(outcome="clicked", position=2)]
        assert again.by_request("news/7") == _row(2, request="news/7")
        assert (again.head(), again.first(), again.waiting()) == (2, 1, 1)
        again.close()

    def test_a_decision_is_answered_once(self, opener: Opener) -> None:
        """A group that answers one again leaves nothing behind, whoever appends it."""
        one, other = opener(), opener()
        one.append(Group(decisions=[_row(1), _row(2)]))
        assert one.append(Group(events=[_answer(1)])) == 1
        group = Group(decisions=[_row(3)], events=[_answer(2), _answer(1, "other")])
        for store in (one, other):
            assert store.append(group) is None
        assert other.head() == 1 and other.decisions([3]) == [] and other.waiting() == 1
        assert other.append(Group(events=[_answer(2)])) == 2
        one.close()
        other.close()

    def test_writers_share_one_order_without_gaps(self, opener: Opener) -> None:
        """Positions are given once; each decision is answered once."""
        stores, numbers = [opener() for _ in range(3)], range(1, 61)
        stores[0].append(Group(decisions=[_row(number) for number in numbers]))
        wins: list[int] = []

        def work(store: Store) -> None:
            for number in numbers:
                group = Group(events=[Entry(b"of %d" % store.server), _answer(number)])
                first = store.append(group)
                if first is not None:
                    wins.append(first)

        threads = [threading.Thread(target=work, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(wins) == [2 * at + 1 for at in range(60)]
        assert [at for at, _ in stores[1].events(0)] == list(range(1, 121))
        assert stores[2].waiting() == 0
        for store in stores:
            store.close()

    def test_others_hear_of_what_was_appended(self, opener: Opener) -> None:
        """A store that waits returns, at the latest when the time is over."""
        one, other = opener(), opener()
        other.wait(0.1)
        heard = threading.Event()

        def listen() -> None:
            while other.head() == 0:
                other.wait(10.0)
            heard.set()

        thread = threading.Thread(target=listen)
        thread.start()
        one.append(_events(b"one"))
        assert heard.wait(5.0)
        thread.join()
        one.close()
        other.close()

    def test_a_decision_that_is_there_stays(self, opener: Opener) -> None:
        """And one of a request that is there is kept without it."""
        store = opener()
        store.append(Group(decisions=[_row(1, request="r")]))
        others = [_row(1, payload=b"other"), _row(2, request="r"), _row(3, request="r3")]
        store.append(Group(decisions=others))
        assert store.decisions([1]) == [_row(1, request="r")]
        assert store.decisions([2]) == [_row(2)] and store.by_request("r") == _row(1, request="r")
        assert store.by_request("r3") == _row(3, request="r3")
        store.close()

    def test_decisions_are_found_together_and_by_server(self, opener: Opener) -> None:
        """Numbers say who made them."""
        store = opener()
        own = (5 << OWN) + 7
        store.append(Group(decisions=[_row(1), _row(3), _row(own), _row(4, payload=b"other")]))
        found = store.decisions([4, 2, 1, 4, 2**60])
        assert sorted(found) == [_row(1), _row(4, payload=b"other")]
        assert store.decisions([]) == []
        assert store.last_decision(0) == 4 and store.last_decision(5) == own
        assert [row.number for row in store.every_decision(1, 2)] == [3, 4]
        store.close()

    def test_old_decisions_are_found_and_go(self, opener: Opener) -> None:
        """By their age alone: one from the future keeps nobody."""
        store = opener()
        store.append(Group(decisions=[_row(1, at=10**15)]))
        store.append(Group(decisions=[_row(n, at=n * 10) for n in range(2, 8)]))
        store.append(Group(events=[_answer(2)]))
        assert [row.number for row in store.unanswered(50, 10)] == [3, 4]
        assert [row.number for row in store.unanswered(50, 1)] == [3]
        assert store.forget_decisions(before=35, limit=1) == 1
        assert store.forget_decisions(before=35, limit=10) == 1
        assert store.forget_decisions(before=35, limit=10) == 0
        assert [row.number for row in store.every_decision(0, 10)] == [1, 4, 5, 6, 7]
        store.close()

    def test_one_server_does_the_chores(self, opener: Opener) -> None:
        """Another does them when it has ended."""
        one, other = opener(), opener()
        assert one.leads() and one.leads() and not other.leads()
        one.close()
        for _ in range(100):
            if other.leads():
                break
            threading.Event().wait(0.05)
        else:
            raise AssertionError("nobody does the chores")
        other.close()

    def test_what_is_erased_cannot_be_read(self, opener: Opener) -> None:
        """Events keep their places; decisions go."""
        store = opener()
        store.append(Group(decisions=[_row(1, payload=b"of alice"), _row(2, payload=b"of bob")]))
        store.append(_events(b"alice", b"bob", b"alice"))
        store.erase([1, 3], [1])
        assert [payload for _, payload in store.events(0)] == [BLANK, b"bob", BLANK]
        assert store.decisions([1, 2]) == [_row(2, payload=b"of bob")]
        store.close()

    def test_snapshots_are_kept_checked_and_dropped(self, opener: Opener) -> None:
        """A damaged one is noticed when it is read."""
        store = opener()
        for position in (5, 10, 15):
            store.save_snapshot(position, snapshots.write({"n": position}, {}))
        assert store.snapshots() == [15, 10, 5]
        store.drop_snapshots([5, 7])
        assert store.snapshots() == [15, 10]
        assert snapshots.read(store.load_snapshot(10))[0] == {"n": 10}
        store.save_snapshot(20, [b"not a snapshot at all, but long enough to be looked at" * 2])
        _raises(StoreDamaged, lambda: store.load_snapshot(20), "snapshot 20")
        store.close()

    def test_two_servers_may_save_a_snapshot_of_one_position(self, opener: Opener) -> None:
        """One of the two stays, whole."""
        stores, large = [opener(), opener()], np.zeros(400_000)
        with ThreadPoolExecutor(2) as pool:
            for _ in range(5):
                saved = [
                    pool.submit(
                        each.save_snapshot, 7, list(snapshots.write({"n": n}, {"x": large}))
                    )
                    for n, each in enumerate(stores)
                ]
                for each in saved:
                    each.result()
                assert snapshots.read(stores[0].load_snapshot(7))[0]["n"] in (0, 1)
        for store in stores:
            store.close()

    def test_a_closed_store_says_so(self, opener: Opener) -> None:
        """It is an error of ours."""
        store = opener()
        store.close()
        _raises(StoreUnavailable, lambda: store.append(_events(b"one")), "closed")
        _raises(StoreUnavailable, lambda: store.decisions([1]), "closed")
