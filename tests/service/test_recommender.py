import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from clubcascade.errors import (
    InvalidArgument,
    InvalidFeedback,
    InvalidItems,
    StoreUnavailable,
    UnknownName,
)
from clubcascade.policies import POLICIES
from clubcascade.service.events import read_event
from tests.service.shops import ITEMS, NAMES, Clock, D, play, replayed, shop


@pytest.fixture
def open_shop(tmp_path):
    opened = []

    def make(**options):
        opened.append(shop(tmp_path, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


# -- outcomes --------------------------------------------------------------------------------------


def test_the_first_answer_wins(open_shop):
    s = open_shop()
    decision = s.recommend("alice", 3, ITEMS)
    assert s.feedback(decision.id, 1) == "applied"
    digest = s.digest()
    assert s.feedback(decision.id, 1) == "duplicate"
    assert s.feedback(decision.id, 2) == "conflict"
    assert s.feedback(decision.id) == "conflict"
    assert s.feedback(decision.id, cc.Feedback(2, (1,))) == "duplicate"
    assert s.digest() == digest
    assert s.model().counters["learned"] == 1


def test_an_answer_learns_what_the_policy_would_have_learned(open_shop):
    s = open_shop()
    policy = cc.CohortCascade(n_features=D)
    for number in range(30):
        decision = s.recommend(number % 4, 3, ITEMS)
        ranking = policy.recommend(number % 4, ITEMS, 3)
        assert decision.items == tuple(ranking.tolist())
        expected = policy.scores(number % 4, ITEMS)[ranking]
        np.testing.assert_array_equal(decision.scores, expected)
        assert decision.model_version == s.model().version
        s.feedback(decision.id, number % 3)
        policy.update(number % 4, ITEMS[ranking], number % 3)
    assert same(learned(policy), learned(s.model().policy))


def test_answers_may_come_in_any_order_and_after_a_restart(open_shop, tmp_path):
    s = open_shop()
    decisions = [s.recommend(f"user {n}", 2, ITEMS) for n in range(6)]
    for at in (4, 1, 3):
        assert s.feedback(decisions[at].id, 0) == "applied"
    s.close()
    s = open_shop()
    assert s.feedback(decisions[1].id, 0) == "duplicate"
    assert s.feedback(decisions[4].id, 1) == "conflict"
    for at in (5, 0, 2):
        assert s.feedback(decisions[at].id, None) == "applied"
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


@pytest.mark.parametrize(
    "wrong", ["", "1", "1-00", "1-0000000000000000", "ffffffffffffff-0123456789abcdef", 7, None]
)
def test_unknown_ids(open_shop, wrong):
    s = open_shop()
    s.recommend("alice", 2, ITEMS)
    digest = s.digest()
    assert s.feedback(wrong, 0) == "unknown"
    assert s.digest() == digest


def test_an_id_with_another_tag_is_unknown(open_shop):
    s = open_shop()
    number, _, tag = s.recommend("alice", 2, ITEMS).id.partition("-")
    assert s.feedback(f"{number}-{tag[::-1]}", 0) == "unknown"


def test_late_feedback_is_logged_and_not_learned(open_shop, tmp_path):
    clock = Clock()
    s = open_shop(clock=clock, wait=60)
    in_time, late, later = (s.recommend("alice", 3, ITEMS) for _ in range(3))
    clock.now += 60
    assert s.feedback(in_time.id, 0) == "applied"
    before = learned(s.model().policy)
    clock.now += 0.002
    assert s.feedback(late.id, 0) == "late"
    assert s.feedback(late.id, 0) == "duplicate"
    assert s.feedback(late.id, 1) == "conflict"
    assert same(before, learned(s.model().policy))
    assert s.model().counters["late"] == 1 and s.model().counters["learned"] == 1
    clock.now += 60
    s.look_after()
    assert s.feedback(later.id, 0) == "unknown"  # forgotten after twice the wait
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


def test_a_list_that_nobody_answered_stays_in_the_log(open_shop, tmp_path):
    clock = Clock()
    s = open_shop(clock=clock, wait=60)
    answered, silent = s.recommend("alice", 3, ITEMS), s.recommend("bob", 3, ITEMS)
    s.feedback(answered.id, 0)
    before, position = learned(s.model().policy), s.position
    clock.now += 120
    s.look_after()
    assert (s.position, s.waiting) == (position, 1)  # it may still be answered, late
    clock.now += 1
    s.look_after()
    assert (s.position, s.waiting) == (position + 1, 0)
    event = read_event(dict(s._store.events(position))[position + 1])
    assert (event.kind, event.decision.id, event.learned) == ("expired", silent.id, False)
    assert event.decision.items == silent.items
    assert same(before, learned(s.model().policy))
    assert s.feedback(silent.id, 0) == "unknown"
    s.look_after()
    assert s.position == position + 1  # once
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


def test_nothing_unanswered_is_dropped_before_it_is_logged(open_shop):
    """The clock goes on between the two looks: what expires just then waits for the next one."""
    clock = Clock()
    s = open_shop(clock=clock, wait=60)
    s.recommend("bob", 3, ITEMS)
    clock.now += 120
    s.look_after()
    tidy = s._chores.tidy

    def later():
        clock.now += 1
        tidy()

    s._chores.tidy = later
    s.look_after()
    assert s.waiting == 1
    s.look_after()
    assert s.waiting == 0
    assert [read_event(e).kind for _, e in s._store.events(1)] == ["expired"]


def test_absent_feedback_can_count_as_no_click(open_shop, tmp_path):
    clock = Clock()
    s = open_shop(clock=clock, wait=60, absent="no_click")
    reference = cc.CohortCascade(n_features=D)
    answered, silent = s.recommend("alice", 3, ITEMS), s.recommend("bob", 3, ITEMS)
    s.feedback(answered.id, 0)
    s.look_after()
    assert s.model().counters["absent"] == 0
    clock.now += 61
    s.look_after()
    reference.update("alice", ITEMS[list(answered.items)], 0)
    reference.update("bob", ITEMS[list(silent.items)], None)
    assert s.model().counters["absent"] == 1
    assert same(learned(reference), learned(s.model().policy))
    assert s.feedback(silent.id, 0) == "late"
    s.look_after()
    assert s.model().counters["learned"] == 2
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


def test_a_batch_is_answered_one_by_one(open_shop):
    s = open_shop()
    ids = [s.recommend("alice", 2, ITEMS).id for _ in range(3)]
    answers = s.feedback_many(
        [(ids[0], 0), (ids[0], 0), (ids[0], 1), ("none", 0), (ids[1], 9), (ids[2], None)]
    )
    assert [str(a) for a in answers[:4]] == ["applied", "duplicate", "conflict", "unknown"]
    assert isinstance(answers[4], InvalidFeedback) and answers[5] == "applied"
    assert s.feedback(ids[1], 1) == "applied"


@pytest.mark.parametrize("click", [3, -1, 0.5, True, "0", cc.Feedback(4, ()), [0]])
def test_a_click_that_cannot_be_is_refused(open_shop, click):
    s = open_shop()
    decision = s.recommend("alice", 3, ITEMS)
    digest = s.digest()
    with pytest.raises(InvalidFeedback):
        s.feedback(decision.id, click)
    assert s.digest() == digest
    assert s.feedback(decision.id, 0) == "applied"


# -- items -----------------------------------------------------------------------------------------


def test_registered_items_can_be_shown_changed_and_removed(open_shop, tmp_path):
    s = open_shop()
    assert s.register_items(NAMES, ITEMS) == 8
    assert set(s.recommend("alice", 8).items) == set(NAMES)
    some = s.recommend("alice", 2, candidates=NAMES[2:5])
    assert set(some.items) <= set(NAMES[2:5])
    shown = s.recommend("alice", 3)
    vectors = [ITEMS[NAMES.index(name)] for name in shown.items]
    s.register_items(NAMES, ITEMS[::-1])  # other features, the same names
    assert s.remove_items([*shown.items, "never there"]) == 3
    assert not set(shown.items) & set(s.recommend("alice", 5).items)
    assert s.feedback(shown.id, 1) == "applied"
    reference = cc.CohortCascade(n_features=D)
    reference.update("alice", np.array(vectors), 1)  # learned with what was shown
    assert same(learned(reference), learned(s.model().policy))
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest
    s = open_shop()
    assert s.digest() == digest
    assert s.remove_items(NAMES) == 5
    with pytest.raises(InvalidItems, match="no registered items"):
        s.recommend("alice", 1)


def test_a_catalogue_can_be_given(open_shop):
    s = open_shop(policy="club_cascade")
    catalog = cc.Catalog(ITEMS, NAMES)
    assert s.recommend("alice", 3, catalog).items == s.recommend("alice", 3, ITEMS, ids=NAMES).items


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.recommend("alice", 1), "no registered items"),
        (lambda s: s.recommend("alice", 1, candidates=["x"]), "no registered items"),
        (lambda s: s.recommend("alice", 0, ITEMS), "k must be"),
        (lambda s: s.recommend("alice", 9, ITEMS), "k must be at most"),
        (lambda s: s.recommend("alice", True, ITEMS), "k must be"),
        (lambda s: s.recommend([], 1, ITEMS), "user must be hashable"),
        (lambda s: s.recommend(None, 1, ITEMS), "user must be a str or an int"),
        (lambda s: s.recommend(1.5, 1, ITEMS), "user must be a str or an int"),
        (lambda s: s.recommend("a\0", 1, ITEMS), "user must be text without NUL"),
        (lambda s: s.recommend("\ud800", 1, ITEMS), "user must be text"),
        (lambda s: s.recommend(2**70, 1, ITEMS), "64 bits"),
        (lambda s: s.recommend("alice", 1, ITEMS * np.nan), "finite"),
        (lambda s: s.recommend("alice", 1, ITEMS * 9), "norm at most 1"),
        (lambda s: s.recommend("alice", 1, ITEMS[:, :2]), "3 features"),
        (lambda s: s.recommend("alice", 1, ITEMS, ids=["a"]), "ids must name 8"),
        (lambda s: s.recommend("alice", 1, ITEMS, ids=["a"] * 8), "distinct"),
        (lambda s: s.recommend("alice", 1, ITEMS, ids="abcdefgh"), "list of ids"),
        (lambda s: s.recommend("alice", 1, ITEMS, candidates=["a"]), "candidates"),
        (lambda s: s.recommend("alice", 1, ids=["a"]), "ids must be given with items"),
        (lambda s: s.recommend("alice", 1, ITEMS, request_id=""), "request_id"),
        (lambda s: s.recommend("alice", 1, ITEMS, request_id=7), "request_id"),
        (lambda s: s.register_items(["a"], ITEMS), "ids must name 8"),
        (lambda s: s.register_items([["a"]], ITEMS[:1]), "hashable"),
        (lambda s: s.register_items(["a"], [[9.0, 0, 0]]), "norm"),
        (lambda s: s.register_items(["a"], [[0.1, 0.1]]), "3 features"),
        (lambda s: s.create_model("default", n_features=2), "new model"),
        (lambda s: s.create_model("../x", n_features=2), "name must be"),
        (lambda s: s.create_model("..", n_features=2), "name must be"),
        (lambda s: s.create_model("x", 7), "policy must be"),
        (lambda s: s.create_model("x", "known_clusters", n_features=2), "n_features alone"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(open_shop, call, words):
    s = open_shop()
    play(s, 3)
    digest, waiting = s.digest(), s.waiting
    with pytest.raises(InvalidArgument, match=words):
        call(s)
    assert s.digest() == digest and s.waiting == waiting


def test_unknown_models(open_shop):
    s = open_shop()
    for call in (
        lambda: s.recommend("alice", 1, ITEMS, model="defalt"),
        lambda: s.register_items(["a"], ITEMS[:1], model="defalt"),
        lambda: s.digest("defalt"),
        lambda: s.model("defalt"),
    ):
        with pytest.raises(UnknownName, match="did you mean 'default'"):
            call()


# -- models ----------------------------------------------------------------------------------------


def test_models_live_side_by_side(open_shop, tmp_path):
    s = open_shop()
    s.create_model("news", cc.C3UCB(n_features=D))
    before = s.digest("default")
    play(s, 20, model="news")
    assert s.digest("default") == before
    decision = s.recommend("alice", 2, ITEMS, model="news")
    assert s.feedback(decision.id, 0, model="default") == "unknown"
    assert s.feedback(decision.id, 0, model="news") == "applied"
    digest = s.digest("news")
    s.close()
    s = open_shop()
    assert set(s.models) == {"default", "news"} and s.digest("news") == digest
    assert isinstance(s.model("news").policy, cc.C3UCB)


def test_a_policy_that_has_learned_goes_on_from_there(open_shop):
    policy = cc.MultipleLinUCB(n_features=D)
    for user in range(5):
        policy.update(user, ITEMS[:3], 1)
    s = open_shop(policy=policy, n_features=None)
    assert same(learned(policy), learned(s.model().policy))
    s.close()
    s = open_shop(n_features=None)
    assert same(learned(policy), learned(s.model().policy))


def test_the_default_is_cohort_cascade(open_shop):
    s = open_shop()
    assert isinstance(s.model().policy, cc.CohortCascade)
    s.create_model("news", n_features=D)
    assert isinstance(s.model("news").policy, cc.CohortCascade)


def test_a_store_keeps_its_policy(open_shop):
    open_shop(policy="c3_ucb").close()
    with pytest.raises(InvalidArgument, match="policy must be that of the store"):
        open_shop(policy="random")
    with pytest.raises(InvalidArgument, match="policy must be that of the store"):
        open_shop(policy="c3_ucb", n_features=D + 1)
    with pytest.raises(InvalidArgument, match="policy must be that of the store"):
        open_shop(n_features=D + 1)
    open_shop(policy="c3_ucb").close()
    open_shop().close()  # no policy is asked for: that of the store it is


def test_a_store_knows_a_policy_whose_parameters_are_arrays(open_shop):
    own = cc.Link(lambda z: 0.5 + 0.01 * z, lambda z: 0.01, name="line")
    other = cc.Link(lambda z: 0.5 + 0.02 * z, lambda z: 0.02, name="line")
    open_shop(policy=cc.C3UCBGLM(n_features=D, link=own), n_features=None).close()
    open_shop(policy=cc.C3UCBGLM(n_features=D, link=own), n_features=None).close()
    with pytest.raises(InvalidArgument, match="policy must be that of the store"):
        open_shop(policy=cc.C3UCBGLM(n_features=D, link=other), n_features=None)


EXAMPLES = [
    pytest.param(policy, id=f"{name}-{number}")
    for name, kind in POLICIES.items()
    for number, policy in enumerate(kind.examples())
]


@pytest.mark.parametrize("policy", EXAMPLES)
def test_every_policy_restarts_to_the_bit(open_shop, tmp_path, policy):
    s = open_shop(policy=policy.fresh(), n_features=None, snapshot_every=10)
    d = policy.n_features or D
    rng = np.random.default_rng(1)
    items = rng.uniform(-0.5, 0.5, (6, d))
    s.register_items(range(6), items)
    for _ in range(25):
        loose = rng.random() < 0.3
        options = {"items": items} if loose else {}
        decision = s.recommend(int(rng.integers(6)), 3, **options)
        s.feedback(decision.id, [None, 0, 1, 2][rng.integers(4)])
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest
    s = open_shop(n_features=None)
    assert s.digest() == digest
    s.feedback(s.recommend(1, 3).id, 0)


# -- requests --------------------------------------------------------------------------------------


def test_a_request_id_gets_the_same_decision_again(open_shop):
    s = open_shop()
    first = s.recommend("alice", 3, ITEMS, request_id="r1")
    play(s, 10)
    assert s.recommend("alice", 3, ITEMS, request_id="r1") == first
    assert s.recommend("alice", 3, ITEMS, request_id="r2") != first
    with pytest.raises(InvalidArgument, match="request_id must be new"):
        s.recommend("bob", 3, ITEMS, request_id="r1")
    s.feedback(first.id, 0)
    s.close()
    s = open_shop()
    assert s.recommend("alice", 3, ITEMS, request_id="r1") == first
    assert s.feedback(first.id, 0) == "duplicate"


def test_durable_decisions_are_there_at_once(open_shop, tmp_path):
    s = open_shop(durable_decisions=True)
    s.recommend("alice", 3, ITEMS)
    assert s.waiting == 1 and s._store.last_decision(s.server) == (s.server << 38) + 1


# -- ends ------------------------------------------------------------------------------------------


def test_a_closed_recommender_says_so(open_shop):
    s = open_shop()
    decision = s.recommend("alice", 1, ITEMS)
    s.close()
    s.close()
    for call in (
        lambda: s.recommend("alice", 1, ITEMS),
        lambda: s.feedback(decision.id, 0),
        s.digest,
        s.snapshot,
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            call()
    s = open_shop()
    assert s.feedback(decision.id, 0) == "applied"


@pytest.mark.parametrize(
    "options",
    [{"wait": 0}, {"wait": float("nan")}, {"snapshot_every": 0}, {"absent": "maybe"}],
)
def test_options_are_validated_before_the_store_is_touched(tmp_path, options):
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        shop(tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()
