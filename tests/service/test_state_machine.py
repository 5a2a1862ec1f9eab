"""Any order of lists, answers, retries, losses, delays and restarts: each answer counts once."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from tests.service.shops import ITEMS, NAMES, Clock, D, replayed, shop

WAIT = 100
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
CLICKS = st.sampled_from([None, 0, 1, cc.Feedback(2, ()), cc.Feedback(2, (0, 1))])


def compared(click):
    feedback = cc.Feedback.of(click, 2)
    return feedback.examined, feedback.clicks


class Shop(RuleBasedStateMachine):
    """Beside the store runs what it promises: a plain policy, and a dictionary of answers."""

    decisions = Bundle("decisions")

    def __init__(self):
        super().__init__()
        self.home = tempfile.TemporaryDirectory(dir=MEMORY)
        self.generation = 0
        self.clock = Clock()
        self.plain = cc.ClubCascade(n_features=D, alpha=0.5)
        self.features = dict(zip(NAMES, ITEMS, strict=True))
        self.answers = {}
        self.shown = {}
        self.shaky = set()  # made since the last commit: a crash may forget them
        self.lost = set()

    @property
    def folder(self):
        return Path(self.home.name) / str(self.generation)

    def open(self):
        policy = cc.ClubCascade(n_features=D, alpha=0.5)
        return shop(
            self.folder,
            policy=policy,
            n_features=None,
            clock=self.clock,
            wait=WAIT,
            snapshot_every=5,
        )

    @initialize()
    def start(self):
        self.shop = self.open()
        self.shop.register_items(NAMES, ITEMS)

    # -- what clients do ---------------------------------------------------------------------------

    @rule(target=decisions, user=st.integers(0, 3), loose=st.booleans())
    def recommend(self, user, loose):
        options = {"items": ITEMS, "ids": NAMES} if loose else {}
        decision = self.shop.recommend(user, 2, **options)
        vectors = ITEMS if loose else np.array([self.features[n] for n in NAMES])
        rows = self.plain.recommend(user, vectors, 2)
        assert decision.items == tuple(NAMES[row] for row in rows)
        self.shown[decision.id] = (user, vectors[rows].copy(), self.clock.now)
        self.shaky.add(decision.id)
        return decision.id

    @rule(target=decisions, request=st.integers(0, 2), user=st.just(1))
    def recommend_again(self, request, user):
        decision = self.shop.recommend(user, 2, items=ITEMS, ids=NAMES, request_id=f"r{request}")
        if decision.id not in self.shown:
            rows = [NAMES.index(name) for name in decision.items]
            self.shown[decision.id] = (user, ITEMS[rows].copy(), self.clock.now)
            self.shaky.add(decision.id)
        assert decision.id not in self.lost
        return decision.id

    @rule(decision=decisions, click=CLICKS, times=st.integers(1, 2))
    def feedback(self, decision, click, times):
        for _ in range(times):
            expected = self.expected(decision, click)
            outcome = self.shop.feedback(decision, click)
            if outcome == "unknown" and decision in self.maybe_lost():
                self.lost.add(decision)
            else:
                assert outcome == expected
            if outcome == "applied":
                user, vectors, _ = self.shown[decision]
                self.plain.update(user, vectors, click)
            if outcome in ("applied", "late"):
                self.answers[decision] = compared(click)
        self.shaky.clear()

    @rule(answers=st.lists(st.tuples(decisions, CLICKS), max_size=5))
    def feedback_together(self, answers):
        for (decision, click), outcome in zip(
            answers, self.shop.feedback_many(answers), strict=True
        ):
            if outcome == "unknown" and decision in self.maybe_lost():
                self.lost.add(decision)
                continue
            assert outcome == self.expected(decision, click)
            if outcome == "applied":
                user, vectors, _ = self.shown[decision]
                self.plain.update(user, vectors, click)
            if outcome in ("applied", "late"):
                self.answers[decision] = compared(click)
        self.shaky.clear()

    def maybe_lost(self):
        """Return what a crash may have lost, and time has not yet."""
        young = {d for d, (_, _, made) in self.shown.items() if self.clock.now - made <= 2 * WAIT}
        return {d for d in young if d in self.lost or d in self.crashed} - set(self.answers)

    crashed = frozenset()

    def expected(self, decision, click):
        if decision in self.lost:
            return "unknown"
        age = self.clock.now - self.shown[decision][2]
        if age > 2 * WAIT:
            return "unknown"
        if decision in self.answers:
            return "duplicate" if self.answers[decision] == compared(click) else "conflict"
        return "late" if age > WAIT else "applied"

    # -- what operators and time do ----------------------------------------------------------------

    @rule(name=st.sampled_from(NAMES), scale=st.sampled_from([0.1, 0.5, 1.0]))
    def register(self, name, scale):
        self.features[name] = scale * ITEMS[NAMES.index(name)]
        self.shop.register_items([name], [self.features[name]])
        self.shaky.clear()

    @rule(seconds=st.sampled_from([1, 60, 150]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule()
    def snapshot(self):
        self.shop.snapshot()

    @rule()
    def look_after(self):
        self.shop.look_after()

    @rule()
    def restart(self):
        digest = self.shop.digest()
        self.shop.close()
        self.shaky.clear()
        assert replayed(self.folder) == digest
        self.shop = self.open()
        assert self.shop.digest() == digest and self.shop.notes == []

    @rule()
    def crash(self):
        """Go on from the files as they lie there, without any goodbye."""
        digest = self.shop.digest()
        old = self.folder
        self.generation += 1
        shutil.copytree(old, self.folder, ignore=shutil.ignore_patterns("*.aside"))
        self.crashed = self.crashed | self.shaky
        self.shaky.clear()
        self.shop.close()
        shutil.rmtree(old)
        self.shop = self.open()
        assert self.shop.digest() == digest and self.shop.notes == []

    @invariant()
    def nothing_is_learned_but_the_answers(self):
        if hasattr(self, "shop"):
            assert same(learned(self.plain), learned(self.shop.model().policy))

    def teardown(self):
        if hasattr(self, "shop"):
            digest = self.shop.digest()
            self.shop.close()
            assert replayed(self.folder) == digest
        self.home.cleanup()


TestShop = Shop.TestCase
TestShop.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
