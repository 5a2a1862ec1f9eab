"""Several servers on one store, in any order, with crashes and old events that move to the archive.

Each answer counts once, and all stay one model.
"""

import tempfile
import time
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from clubcascade.storage import folder as archives
from tests.service.shops import ITEMS, NAMES, Clock, D, replayed, shop

WAIT = 100
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
CLICKS = st.sampled_from([None, 0, 1])
SERVERS = st.integers(0, 2)


class Servers(RuleBasedStateMachine):
    """Beside the servers runs what they promise: one plain policy, and a dictionary of answers."""

    decisions = Bundle("decisions")

    def __init__(self):
        super().__init__()
        self.home = tempfile.TemporaryDirectory(dir=MEMORY)
        self.clock = Clock()
        self.plain = cc.ClubCascade(n_features=D, alpha=0.5)
        self.answers, self.shown, self.made_by = {}, {}, {}
        self.gone = set()  # users who were forgotten: their decisions went with them
        self.unsure = set()  # of servers that crashed: perhaps not durable
        self.usual, archives.SEGMENT_EVENTS = archives.SEGMENT_EVENTS, 5
        self.log = []

    def open(self):
        policy = cc.ClubCascade(n_features=D, alpha=0.5)
        return shop(
            Path(self.home.name) / "store",
            policy=policy,
            n_features=None,
            clock=self.clock,
            wait=WAIT,
            snapshot_every=7,
        )

    @initialize()
    def start(self):
        self.servers = [self.open() for _ in range(3)]
        self.servers[0].register_items(NAMES, ITEMS)

    @rule(target=decisions, server=SERVERS, user=st.integers(0, 3))
    def recommend(self, server, user):
        decision = self.servers[server].recommend(user, 2, ITEMS, ids=NAMES)
        rows = [NAMES.index(name) for name in decision.items]
        self.shown[decision.id] = (user, ITEMS[rows].copy(), self.clock.now)
        self.made_by[decision.id] = self.servers[server]
        return decision.id

    @rule(decision=decisions, click=CLICKS, servers=st.lists(SERVERS, min_size=1, max_size=3))
    def feedback(self, decision, click, servers):
        for server in servers:
            expected = self.expected(decision, click)
            outcome = self.servers[server].feedback(decision, click)
            if decision in self.unsure:
                self.unsure.remove(decision)
                if outcome == "unknown":
                    self.gone.add(decision)  # and it stays so
                    continue
            assert outcome == expected
            if expected == "applied":
                user, vectors, _ = self.shown[decision]
                self.plain.update(user, vectors, click)
                self.log.append((user, vectors, click))
                counted = self.servers[server].model().policy  # one's own writes
                assert same(learned(self.plain), learned(counted))
            if expected in ("applied", "late"):
                self.answers[decision] = click

    def expected(self, decision, click):
        user, _, at = self.shown[decision]
        age = self.clock.now - at
        if decision in self.gone or age > 2 * WAIT:
            return "unknown"
        if decision in self.answers:
            return "duplicate" if self.answers[decision] == click else "conflict"
        return "late" if age > WAIT else "applied"

    @rule(seconds=st.sampled_from([1, 60, 150]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(server=SERVERS)
    def snapshot(self, server):
        self.servers[server].snapshot()

    @rule(server=SERVERS)
    def look_after(self, server):
        self.servers[server].look_after()

    @rule(server=SERVERS)
    def restart(self, server):
        self.servers[server].close()
        self.servers[server] = self.open()
        assert self.servers[server].notes == []

    @rule(server=SERVERS)
    def crash(self, server):
        """Nothing of what a server has in memory becomes durable any more; the others go on."""
        victim = self.servers[server]
        victim._store.close()
        victim.close()
        mine = {decision for decision, maker in self.made_by.items() if maker is victim}
        self.unsure |= mine - set(self.answers) - self.gone
        self.servers[server] = self.open()
        assert self.servers[server].notes == []

    @rule(server=SERVERS, user=st.integers(0, 3))
    def forget(self, server, user):
        for each in self.servers:
            each.look_after()  # what is on its way would come after
        if user not in [who for who, _, _ in self.log]:
            return
        self.servers[server].forget_user(user)
        self.unsure -= {d for d, (who, _, _) in self.shown.items() if who == user}
        self.gone |= {d for d, (who, _, _) in self.shown.items() if who == user}
        self.log = [each for each in self.log if each[0] != user]
        self.plain = cc.ClubCascade(n_features=D, alpha=0.5)
        for who, vectors, click in self.log:
            self.plain.update(who, vectors, click)

    @invariant()
    def all_are_one_model(self):
        if not hasattr(self, "servers"):
            return
        head = max(each.position for each in self.servers)
        until = time.monotonic() + 30
        while min(each.position for each in self.servers) < head:
            assert time.monotonic() < until
            time.sleep(0.001)
        assert len({each.digest_at() for each in self.servers}) == 1
        assert same(learned(self.plain), learned(self.servers[0].model().policy))

    def teardown(self):
        if hasattr(self, "servers"):
            digest = self.servers[0].digest()
            for each in self.servers:
                each.close()
            assert replayed(Path(self.home.name) / "store") == digest
        archives.SEGMENT_EVENTS = self.usual
        self.home.cleanup()


TestServers = Servers.TestCase
TestServers.settings = settings(max_examples=8, stateful_step_count=15, deadline=None)
