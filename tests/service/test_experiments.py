"""Experiments: users stay in their arm, all models learn, and all servers say the same."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from clubcascade.errors import ClubCascadeError, InvalidArgument, InvalidItems, UnknownName
from clubcascade.service.decision import Decision
from clubcascade.service.events import Answered, ExperimentPut, ModelGone, UserGone, read_event
from clubcascade.service.experiments import POINTS, Curve, Experiment, Results
from clubcascade.service.history import export
from clubcascade.service.keys import KeyFile
from clubcascade.service.lists import log_of
from tests.service.shops import ITEMS, NAMES, Clock, D, replayed, shop
from tests.service.web import bearer, serving, stock

ARMS = {"now": ("default", 1), "new": ("other", 1)}


def ready(where, **options):
    """Three models with the same items."""
    s = shop(where, **({"policy": "random", "n_features": D} | options))
    if "other" not in s.models:
        s.create_model("other", "c3_ucb", n_features=D)
        s.create_model("popular", "popular")
        for model in ("default", "other", "popular"):
            s.register_items(NAMES, ITEMS, model=model)
    return s


def visit(s, users, rates, name="spring", seed=0, k=2):
    """Each user sees a list and clicks as often as its arm makes them."""
    rng, answers, seen = np.random.default_rng(seed), [], []
    for user in users:
        shown = s.recommend(user, k, model=name)
        clicked = rng.random() < (rates if shown.arm is None else rates[shown.arm])
        answers.append((shown.id, int(rng.integers(k)) if clicked else None))
        seen.append(shown)
    assert set(s.feedback_many(answers, model=name)) == {"applied"}
    return seen


def test_users_stay_and_the_verdict_is_by_user(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        empty = s.experiment("spring")
        assert (empty["lists"], empty["users"]) == (0, 0)
        assert empty["verdicts"][0]["sentence"] == (
            "too few users or clicks to compare new with now; go on"
        )
        arm = {}
        for number in range(3):
            for shown in visit(s, range(400), {"now": 0.3, "new": 0.7}, seed=number):
                assert arm.setdefault(shown.user, shown.arm) == shown.arm
                assert shown.model == dict(now="default", new="other")[shown.arm]
                assert shown.experiment.startswith("spring/")
        told = s.experiment("spring")
        assert {200 * 0.8 < sum(a == name for a in arm.values()) for name in ARMS} == {True}
        assert (told["lists"], told["users"]) == (1200, 400)
        assert [each["users"] for each in told["arms"]] == [
            sum(a == name for a in arm.values()) for name in ARMS
        ]
        (verdict,) = told["verdicts"]
        assert verdict["decision"] == "better"
        assert verdict["sentence"].startswith("new gets between ")
        assert "you can stop" in verdict["sentence"]
        assert [point[0] for point in verdict["curve"]] == list(range(100, 1300, 100))
        low, high = verdict["curve"][-1][1:]
        assert [low, high] == verdict["difference"] and low < 0.4 < high
        json.dumps(told, allow_nan=False)
        export(s._store, "other", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert {(row["experiment"].partition("/")[0], row["arm"]) for row in rows} == {
        ("spring", "new")
    }


def test_all_models_of_an_experiment_learn_from_all_its_lists(tmp_path):
    reference = cc.C3UCB(n_features=D)
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS | {"shadow": ("popular", 0)})
        rng = np.random.default_rng(0)
        for number in range(30):
            shown = s.recommend(f"user {number % 9}", 3, model="spring")
            assert shown.arm != "shadow"
            click = int(rng.integers(3))
            s.feedback(shown.id, click)
            rows = [NAMES.index(name) for name in shown.items]
            reference.update(f"user {number % 9}", ITEMS[rows], click)
        assert same(learned(reference), learned(s.model("other").policy))
        counts = [s.model(name).counters["learned"] for name in s.models]
        assert counts == [30, 30, 30]
        direct = s.recommend("user 1", 3, model="other")  # no list of the experiment
        assert (direct.experiment, direct.arm) == (None, None)
        s.feedback(direct.id, 0)
        waiting = s.recommend("user 1", 3, model="spring")
        s.delete_experiment("spring")
        s.feedback(waiting.id, 0, model=waiting.model)  # after the end: the model's own alone
        counts = [s.model(name).counters["learned"] for name in s.models]
        assert sum(counts) == 92 and counts[2] == 30
        s.snapshot()
        digest = s.digest()
    assert replayed(tmp_path) == digest


def test_a_list_that_nobody_answered_is_one_without_a_click(tmp_path):
    clock = Clock()
    with ready(tmp_path, clock=clock, wait=60) as s:
        s.create_experiment("spring", ARMS)
        answered, silent, late = (s.recommend(user, 2, model="spring") for user in "abc")
        s.feedback(answered.id, 0)
        assert s.experiment("spring")["lists"] == 1
        clock.now += 61
        assert s.feedback(late.id, 0) == "late"
        clock.now += 60
        s.look_after()
        told = s.experiment("spring")
        assert (told["lists"], told["users"], told["clicks"]) == (3, 3, 2)
        assert s.model().counters["learned"] == 1


def test_all_servers_agree_also_after_a_restart(tmp_path):
    with ready(tmp_path) as a, shop(tmp_path, n_features=None) as b:
        a.create_experiment("spring", ARMS)
        b.follow()
        rates = {"now": 0.4, "new": 0.6}
        for number in range(3):
            visit(a, range(60), rates, seed=number)
            visit(b, range(30, 90), rates, seed=9 + number)
            assert b.experiment("spring")["lists"] > 0
        assert a.follow() == b.follow()
        told = a.experiment("spring")
        assert told == b.experiment("spring") and told["lists"] == 360
        user = 77
        assert a.recommend(user, 2, model="spring").arm == b.recommend(user, 2, model="spring").arm
        assert a.digest_at() == b.digest_at()
        a.snapshot()
        position = a.position
    with shop(tmp_path, n_features=None) as s:
        assert s.position == position and s._models.loaded == position
        assert s.experiment("spring") == told
        s.delete_experiment("spring")
        assert s.experiment("spring") == told | {"ended": s.position, "position": s.position}
        with pytest.raises(UnknownName, match="experiment"):
            s.delete_experiment("spring")
        s.create_experiment("spring", ARMS)  # another one: it begins at nothing
        assert s.experiment("spring")["lists"] == 0


def test_who_is_forgotten_is_forgotten_by_all_models_of_the_experiment(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        visit(s, [f"user {n % 20}" for n in range(60)], {"now": 0.5, "new": 0.5})
        assert s.experiment("spring")["lists"] == 60
        # Of either model: the lists of the one taught the other.
        s.forget_user("user 3", model="default")
        s.forget_user("user 4", model="other")
        for name in ("default", "other"):
            assert s.model(name).counters["learned"] == 54
        assert {"user 3", "user 4"}.isdisjoint(s.model("other").policy.users)
        told = s.experiment("spring")
        assert (told["lists"], told["users"]) == (54, 18)
        digest = s.digest()
    assert replayed(tmp_path) == digest
    with shop(tmp_path, n_features=None) as s:
        assert s.digest() == digest


def test_interleaving_is_a_screen(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("screen", ARMS, mode="interleave")
        answers = []
        for user in range(300):
            shown = s.recommend(user % 150, 3, model="screen")
            assert (shown.arm, shown.model, shown.scores) == (None, "default", None)
            assert len(shown.teams) == 3 and {*shown.teams} <= {0, 1, 2}
            best = s.model("other").policy.recommend(user % 150, s.model().catalog, 3)
            for name, team in zip(shown.items, shown.teams, strict=True):
                assert (name in [NAMES[row] for row in best]) == (team != 1)
            place = shown.teams.index(2) if 2 in shown.teams else None
            answers.append((shown.id, place))
        s.feedback_many(answers)
        told = s.experiment("screen")
        assert (told["mode"], told["lists"], told["verdicts"]) == ("interleave", 300, [])
        assert told["screen"]["sentence"].startswith("screen: new (against now) gets between ")
        assert told["screen"]["share"][0] > 0.5
        assert s.model("other").counters["learned"] == s.model().counters["learned"] == 300
        s.register_items(["more"], ITEMS[:1], model="other")
        s.remove_items(NAMES[:2], model="other")
        with pytest.raises(InvalidItems, match="items must be the same in models"):
            for user in range(20):
                s.recommend(user, 3, model="screen")


def test_an_arm_may_be_greedy(tmp_path):
    """One model, with and without exploration; it learns each list once."""
    with ready(tmp_path, policy="cohort_cascade") as s:
        s.create_experiment("x", {"explores": ("default", 1), "greedy": ("default", 1, 0)})
        seen = visit(s, range(40), {"explores": 0.5, "greedy": 0.5}, name="x")
        assert {(shown.arm, shown.greedy) for shown in seen} == {
            ("explores", False),
            ("greedy", True),
        }
        assert s.model().counters["learned"] == 40
        with pytest.raises(InvalidArgument, match="greedy and explore must be left to the arms"):
            s.recommend("a", 2, model="x", greedy=True)
        s.delete_experiment("x")
        s.create_experiment(
            "x", {"explores": ("default", 1), "greedy": ("default", 1, 0)}, mode="interleave"
        )
        shown = visit(s, range(40), 0.5, name="x")
        assert any(1 in each.teams for each in shown)
        with pytest.raises(InvalidArgument, match="must be left out of interleaved lists"):
            s.recommend("a", 2, model="x", exclude_seen=True)


@pytest.mark.parametrize(
    ("name", "arms", "mode", "said"),
    [
        ("spring", {"a": ("default", 1)}, "ab", "arms must be 2 to 10"),
        ("spring", ARMS, "abc", "mode must be"),
        ("spring", ARMS | {"c": ("popular", 1)}, "interleave", "arms must be 2 to be interleaved"),
        (
            "spring",
            {"a": ("default", 1), "b": ("default", 1)},
            "ab",
            "arms must differ in model or explore",
        ),
        ("spring", {"a": ("default", 1), "b": ("other", 0)}, "ab", "share above 0"),
        ("spring", {"a": ("default", 1), "b": ("other", -1)}, "ab", r"arms\['b'\].share must be"),
        ("spring", {"a": ("default", 1), "b": ("nobody", 1)}, "ab", "nobody"),
        ("other", ARMS, "ab", "name must be new, got 'other' again"),
        ("a b", ARMS, "ab", "name must be 1 to 64 letters"),
        ("spring", {"a": ("default", 1), "b": ("fewer", 1)}, "ab", "the same items"),
    ],
)
def test_wrong_experiments_change_nothing(tmp_path, name, arms, mode, said):
    with ready(tmp_path) as s:
        s.create_model("fewer", "c3_ucb", n_features=D)
        before = s.position
        with pytest.raises(ClubCascadeError, match=said):
            s.create_experiment(name, arms, mode=mode)
        assert (s.position, s.experiments) == (before, {})


def test_a_running_experiment_keeps_its_models_and_its_name(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        for call in (
            lambda: s.delete_model("other"),
            lambda: s.create_model("spring", "random"),
            lambda: s.create_experiment("spring", ARMS),
        ):
            with pytest.raises(InvalidArgument, match="name must"):
                call()
        s.delete_experiment("spring")
        s.delete_model("other")


def test_a_curve_has_a_bounded_number_of_points():
    curve = Curve()
    for lists in range(1, 200_001):
        curve.add(lists, lambda at=lists: (at, at))
    assert POINTS // 2 <= len(curve.points) < POINTS
    assert curve.points[-1][0] > 190_000
    assert np.ptp(np.diff([lists for lists, _, _ in curve.points])) == 0


def test_experiments_between_equals_have_few_false_alarms():
    """Users differ, and one looks at every point of the curve."""
    put = ExperimentPut("aa", "ab", (("now", "x", 1.0, 1.0), ("new", "y", 1.0, 1.0)))
    rng, alarms, said = np.random.default_rng(8), 0, 0
    for run in range(40):
        experiment = Experiment(put, run + 1)
        arms = [experiment.arm_of(user)[0] for user in range(140)]
        rates, results = rng.beta(1.5, 1.5, 140), Results(experiment)
        events = []
        for at in range(1000):
            user = int(rng.integers(140))
            decision = Decision(str(at), (1, 2), None, 0, "x", user)
            decision.experiment, decision.arm = experiment.id, arms[user]
            given = (1, (0,)) if rng.random() < rates[user] else (2, ())
            events.append((run + at + 2, Answered(decision, "applied", given, 0)))
        results.follow(lambda after, events=events: events)
        (verdict,) = results.tell()["verdicts"]
        bounds = [(low, high) for _, low, high in verdict["curve"] if low is not None]
        said += len(bounds)
        alarms += any(low > 0 or high < 0 for low, high in bounds)
    assert said > 100
    assert alarms <= 2  # 500 runs of this: python -m benchmarks.verdict service


# -- over HTTP -------------------------------------------------------------------------------------

SPRING = {"arms": {"now": {"model": "default"}, "new": {"model": "other", "share": 1}}}


def test_an_experiment_over_http(tmp_path):
    with serving(tmp_path) as (client, _):
        stock(client)
        client.put("/v1/models/other", json={"policy": "c3_ucb", "n_features": D})
        stock(client, "other")
        made = client.put("/v1/experiments/spring", json=SPRING)
        assert made.status_code == 201, made.text
        assert client.put("/v1/experiments/spring", json=SPRING).status_code == 200
        other = client.put("/v1/experiments/spring", json=SPRING | {"mode": "interleave"})
        assert other.status_code == 409
        for user in range(40):
            shown = client.post("/v1/spring/recommend", json={"user": user, "k": 2}).json()
            click = {"decision_id": shown["decision_id"], "click": 0}
            done = client.post("/v1/spring/feedback", json=click)
            assert done.json()["outcome"] == "applied"
        told = client.get("/v1/experiments/spring").json()
        assert (told["lists"], told["users"], told["clicks"]) == (40, 40, 40)
        assert sum(each["lists"] for each in told["arms"]) == 40
        assert "go on" in told["verdicts"][0]["sentence"]
        running = {"experiments": ["spring"], "ended": []}
        assert client.get("/v1/experiments").json() == running
        assert client.get("/v1/models/other").json()["counters"]["learned"] == 40
        for name in ("models", "experiments", "spring"):
            assert client.put(f"/v1/models/{name}", json={"n_features": 2}).status_code >= 400
        assert client.delete("/v1/experiments/spring").status_code == 200
        assert client.get("/v1/experiments").json() == {"experiments": [], "ended": ["spring"]}
        ended = client.get("/v1/experiments/spring").json()
        assert ended["ended"] and ended["lists"] == 40
        assert client.delete("/v1/experiments/spring").status_code == 404
        assert client.get("/v1/experiments/other").status_code == 404
        assert client.post("/v1/spring/recommend", json={"user": 1, "k": 2}).status_code == 404
        wrong = {"arms": {"a": {"model": "default"}, "b": {"model": "nobody"}}}
        assert client.put("/v1/experiments/x", json=wrong).status_code == 404
        wrong = {"arms": {"a": {"model": "default"}}}
        assert client.put("/v1/experiments/x", json=wrong).status_code == 422


def test_a_key_needs_the_models_of_the_arms(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    whole, part = keys.add("admin"), keys.add("admin", ["spring", "default"])
    with serving(tmp_path, keys=True) as (client, _):
        admin = bearer(whole)
        client.put("/v1/models/other", json={"n_features": D}, headers=admin)
        put = client.put("/v1/experiments/spring", json=SPRING, headers=bearer(part))
        assert put.status_code == 403
        assert client.put("/v1/experiments/spring", json=SPRING, headers=admin).status_code == 201
        assert client.get("/v1/experiments/spring", headers=bearer(part)).status_code == 200


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """A file of training whose users are numbers."""
    rng = np.random.default_rng(1)
    items = [{"item_id": n, "title": f"thing {n}", "price": n / 2} for n in range(12)]
    clicks = [
        {"user": int(user), "item": int(2 * rng.integers(6) + user % 2), "time": at}
        for at, user in enumerate(rng.integers(20, size=300))
    ]
    path = tmp_path_factory.mktemp("numbered") / "shop.cc"
    cc.train(clicks, items, n_features=3, als=False, judge=False, weight=0.2, strength=1).save(path)
    return path


def test_a_user_of_two_spellings_has_one_arm_and_is_forgotten_whole(numbered, tmp_path):
    with cc.Recommender(tmp_path, trained=numbered) as s:
        catalog = s.model().catalog
        s.create_model("popular", "popular")
        s.register_items(list(catalog.ids), catalog.features, model="popular")
        s.create_experiment("ids", {"popular": ("popular", 1), "learned": ("default", 1)})
        arms = {}
        for user in range(8):
            for spelled in (user, str(user)):
                shown = s.recommend(spelled, 2, model="ids")
                s.feedback(shown.id, 0, model="ids")
                assert shown.user == user
                assert arms.setdefault(user, shown.arm) == shown.arm
        assert len(set(arms.values())) == 2 and s.experiment("ids")["users"] == 8
        s.forget_user("0", model="popular")
        left = [read_event(payload) for _, payload in s._store.events(0)]
        users = {each.decision.user for each in left if isinstance(each, Answered)}
        assert users == set(range(1, 8))
        for asked in ({"exclude_seen": True}, {"filter": "price < 3"}):
            with pytest.raises(InvalidArgument, match="must be"):  # the arms differ there
                s.recommend(1, 2, model="ids", **asked)


def test_arms_of_other_lengths_and_endless_shares_are_refused(tmp_path):
    with shop(tmp_path, policy="random", n_features=D) as s:
        s.create_model("longer", "c3_ucb", n_features=D + 1)
        with pytest.raises(InvalidArgument, match="arms must have one number of features"):
            s.create_experiment("spring", {"a": ("default", 1), "b": ("longer", 1)})
        with pytest.raises(InvalidArgument, match=r"share must be .*, got 1e\+308"):
            s.create_experiment("spring", {"a": ("default", 1e308), "b": ("longer", 1e308)})


def test_lists_before_a_user_was_forgotten_in_a_related_model_are_left_out(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        visit(s, range(30), {"now": 0.5, "new": 0.5})
        forgotten = next(u for u in range(30) if s.experiments["spring"].arm_of(u)[0] == "new")
        s.forget_user(forgotten, model="other")
        assert len(log_of(tmp_path, "default")) == 0  # all were made by a model that is gone
        visit(s, range(40, 60), {"now": 0.5, "new": 0.5})
        assert 0 < len(log_of(tmp_path, "default")) < 20


def test_an_expired_list_is_unknown_to_every_server(tmp_path):
    clock = Clock()
    with (
        shop(tmp_path, clock=clock, wait=10) as a,
        shop(tmp_path, clock=clock, wait=10) as b,
    ):
        shown = a.recommend("u", 2, ITEMS)
        a.follow()
        clock.now += 25
        for _ in range(3):
            a.look_after()
        b.follow()
        assert [s.feedback(shown.id, 0) for s in (a, b)] == ["unknown", "unknown"]


# -- exploration -----------------------------------------------------------------------------------


def test_a_share_of_the_lists_explores(tmp_path):
    """Per model, per request and per arm; what it costs and buys is told."""
    with ready(tmp_path, policy="cohort_cascade") as s:
        s.create_model("calm", "cohort_cascade", n_features=D, explore=0.25)
        s.register_items(NAMES, ITEMS, model="calm")
        greedy = [s.recommend(user, 2, model="calm").greedy for user in range(400)]
        assert 0.68 < np.mean(greedy) < 0.82
        greedy = [s.recommend(user, 2, model="calm", explore=0.75).greedy for user in range(400)]
        assert 0.18 < np.mean(greedy) < 0.32
        assert {s.recommend(user, 2, explore=0).greedy for user in range(40)} == {True}
        assert {s.recommend(user, 2, explore=1).greedy for user in range(40)} == {False}
        s.create_experiment("x", {"all": ("default", 1), "half": ("default", 1, 0.5)})
        seen = visit(s, [n % 100 for n in range(600)], {"all": 0.5, "half": 0.5}, name="x")
        told = {each["arm"]: each for each in s.experiment("x")["arms"]}
        for name, share in (("all", 1.0), ("half", 0.5)):
            mine = [shown for shown in seen if shown.arm == name]
            exploring = [shown for shown in mine if not shown.greedy]
            assert told[name]["explore"] == share
            assert told[name]["exploring_lists"] == len(exploring)
            assert abs(len(exploring) / len(mine) - share) < 0.12
            assert 0 <= told[name]["exploring_clicks"] <= told[name]["clicks"]
            assert told[name]["items"] == len({item for shown in mine for item in shown.items})
        with pytest.raises(InvalidArgument, match="greedy and explore must be left to the arms"):
            s.recommend("a", 2, model="x", explore=0.5)
        s.snapshot()
    with shop(tmp_path, n_features=None) as s:
        greedy = [s.recommend(user, 2, model="calm").greedy for user in range(400)]
        assert 0.68 < np.mean(greedy) < 0.82
        assert s.experiments["x"].put.arms[1] == ("half", "default", 1.0, 0.5)


def test_what_cannot_be_greedy_must_explore(tmp_path):
    with ready(tmp_path) as s:  # "default" is random
        before = s.position
        for call in (
            lambda: s.create_model("y", "random", explore=0.5),
            lambda: s.create_experiment("x", {"a": ("other", 1), "b": ("default", 1, 0.5)}),
            lambda: s.recommend("a", 2, explore=0.99),
            lambda: s.recommend("a", 2, greedy=True),
        ):
            with pytest.raises(InvalidArgument, match="explore must be 1, and greedy false"):
                call()
        for wrong in (-0.1, 1.1, float("nan"), "much"):
            with pytest.raises(InvalidArgument, match=r"arms\['b'\].explore must be"):
                s.create_experiment("x", {"a": ("default", 1), "b": ("other", 1, wrong)})
        with pytest.raises(InvalidArgument, match="explore must be"):
            s.recommend("a", 2, model="other", explore=2)
        assert s.position == before


def test_earlier_logs_say_which_arms_are_greedy():
    arms = [["a", "m", 1.0, False], ["b", "m", 1.0, True], ["c", "m", 1.0, 0.25]]
    assert [arm[3] for arm in ExperimentPut.read("x", "ab", arms).arms] == [1.0, 0.0, 0.25]
    assert ExperimentPut.read("x", "ab", [("a", "m", 1.0, 1.0)]).arms[0][3] == 1.0


# -- after the end, and among several --------------------------------------------------------------


def test_a_verdict_can_be_read_after_the_end(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        waits = s.recommend("late", 2, model="spring")
        visit(s, range(40), {"now": 0.5, "new": 0.5})
        told = s.experiment("spring")
        s.delete_experiment("spring")
        end = s.position
        assert s.feedback(waits.id, 0) == "applied"  # the model learns; the verdict stands
        s.delete_model("other")
        told |= {"ended": end, "position": end}
        assert s.experiment("spring") == told
        s.snapshot()
        s.forget_user(7)
        assert s.experiment("spring")["users"] == 39
    with shop(tmp_path, n_features=None) as s:
        assert list(s.ended) == ["spring"] and s.experiment("spring")["users"] == 39


def test_few_ended_experiments_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("clubcascade.service.models.MOST_ENDED", 2)
    with ready(tmp_path) as s:
        for name in ("a", "b", "a", "c"):
            s.create_experiment(name, ARMS)
            s.delete_experiment(name)
        assert list(s.ended) == ["a", "c"]


def test_someone_forgotten_does_not_count_before_the_log_is_erased(tmp_path):
    """The event that forgets comes first, and what it names is erased after it."""
    experiment = Experiment(
        ExperimentPut("x", "ab", (("a", "m", 1.0, 1.0), ("b", "n", 1.0, 1.0))), 1
    )
    log = []
    for at, user in enumerate("uvw"):
        decision = Decision(str(at), (1, 2), None, 0, "m", user, experiment="x/1", arm="a")
        log.append((at + 2, Answered(decision, "applied", (2, ()), 0)))
    results = Results(experiment).follow(lambda after: [each for each in log if each[0] > after])
    assert results.tell()["users"] == 3
    log.append((9, UserGone("m", (3,))))
    results = results.follow(lambda after: [each for each in log if each[0] > after])
    assert (results.tell()["users"], results.position) == (2, 9)


def test_a_model_that_another_server_deletes_is_missed_with_a_sentence(tmp_path):
    with ready(tmp_path) as s:
        s.create_experiment("spring", ARMS)
        waits = [s.recommend(user, 2, model="spring") for user in range(20)]
        s._call(lambda: s._writer.record(ModelGone("other")))  # it did not know the experiment yet
        for user in range(20):
            with pytest.raises(UnknownName, match="other"):
                s.recommend(user, 2, model="spring")
        s.feedback_many([(shown.id, 0) for shown in waits])
        assert s.experiment("spring")["lists"] == 20
        s.delete_experiment("spring")
        assert s.experiment("spring")["lists"] == 20
    with shop(tmp_path, n_features=None) as s:
        assert s.experiment("spring")["lists"] == 20


def test_experiments_on_postgresql(database):
    """Two servers, one that joins in the middle, and one that begins anew, say the same."""
    url = database
    with ready(url) as a:
        a.create_experiment("spring", ARMS)
        visit(a, range(60), {"now": 0.3, "new": 0.7})
        with shop(url, n_features=None) as b:
            b.follow()
            assert [b.experiments["spring"].arm_of(user) for user in range(60)] == [
                a.experiments["spring"].arm_of(user) for user in range(60)
            ]
            visit(b, range(30, 90), {"now": 0.3, "new": 0.7}, seed=1)
            a.follow()
            assert a.experiment("spring") == b.experiment("spring")
            assert a.experiment("spring")["lists"] == 120
            b.forget_user(31)
            a.follow()
            told = a.experiment("spring")
            assert told == b.experiment("spring") and (told["lists"], told["users"]) == (118, 89)
            a.delete_experiment("spring")
            b.follow()
            assert b.experiment("spring") == a.experiment("spring")
    with shop(url, n_features=None) as c:
        again = c.experiment("spring")
        assert (again["lists"], again["users"]) == (118, 89) and again["ended"]


# -- nonsense --------------------------------------------------------------------------------------

NONSENSE = [
    {},
    {"arms": None},
    {"arms": []},
    {"arms": {}},
    {"arms": {"a": {"model": "default"}}},
    {"arms": {"a": {}, "b": {}}},
    {"arms": {"a": "default", "b": "other"}},
    {"arms": {"a": {"model": "default"}, "b": {"model": 7}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "default"}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": ""}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "x" * 1000}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "spring"}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other", "share": -1}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other", "share": 1e999}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other", "share": "half"}}},
    {"arms": {"a": {"model": "default", "share": 0}, "b": {"model": "other", "share": 0}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other", "explore": 2}}},
    {"arms": {"a": {"model": "default"}, " ": {"model": "other"}}},
    {"arms": {"a": {"model": "default"}, "a\nb": {"model": "other"}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other", "greedy": True}}},
    {"arms": {"": {"model": "default"}, "x" * 65: {"model": "other"}}},
    {"arms": {f"{n}": {"model": "default", "explore": n / 20} for n in range(11)}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "longer"}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "empty"}}},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other"}}, "mode": "both"},
    {"arms": {"a": {"model": "default"}, "b": {"model": "other"}}, "salt": "mine"},
]


def test_nonsense_is_refused_with_a_sentence(tmp_path):
    with serving(tmp_path) as (client, service):
        stock(client)
        for name, n_features in (("other", D), ("empty", D), ("longer", D + 1)):
            client.put(f"/v1/models/{name}", json={"policy": "c3_ucb", "n_features": n_features})
        stock(client, "other")
        before = service.open_shop.position
        for body in NONSENSE:
            text = json.dumps(body).replace("Infinity", "1e999")
            for name in ("x", "default"):
                answer = client.put(f"/v1/experiments/{name}", content=text)
                assert 400 <= answer.status_code < 500, (body, answer.text)
                assert len(answer.json()["error"]["reason"]) > 10, answer.text
        good = {"arms": {"a": {"model": "default"}, "b": {"model": "other"}}}
        for name in (
            "items", "models", "experiments", "a b", "x" * 9_999, "%00", "..", "default",
        ):  # fmt: skip
            answer = client.put(f"/v1/experiments/{name}", json=good)
            assert 400 <= answer.status_code < 500, (name, answer.text)
            assert len(answer.text) < 1_000
        for body in (b"", b"[", b"null", b"\xff\xfe", b'{"arms": ' * 2_000):
            assert 400 <= client.put("/v1/experiments/x", content=body).status_code < 500
        assert (service.open_shop.position, client.get("/v1/experiments").json()) == (
            before,
            {"experiments": [], "ended": []},
        )
        assert client.put("/v1/experiments/x", json=good).status_code == 201
        gone = client.delete("/v1/models/other")
        assert gone.status_code == 422 and "in an experiment" in gone.text
        for explore in (-1, 2, "x"):
            asked = {"user": 1, "k": 2, "explore": explore}
            assert client.post("/v1/other/recommend", json=asked).status_code == 422
        calm = {"policy": "c3_ucb", "n_features": D, "explore": 0.5}
        assert client.put("/v1/models/calm", json=calm).json()["explore"] == 0.5
        assert client.put("/v1/models/calm", json=calm).status_code == 200
        assert client.put("/v1/models/calm", json=calm | {"explore": 0.4}).status_code == 409


def test_an_arm_explores_as_its_model_does(tmp_path):
    with serving(tmp_path, policy="c3_ucb") as (client, _):
        stock(client)
        calm = {"policy": "c3_ucb", "n_features": D, "explore": 0.25}
        client.put("/v1/models/calm", json=calm)
        stock(client, "calm")
        arms = {"all": {"model": "default"}, "few": {"model": "calm"}}
        arms["half"] = {"model": "calm", "explore": 0.5}
        for status in (201, 200):
            told = client.put("/v1/experiments/spring", json={"arms": arms})
            assert told.status_code == status
            assert [arm["explore"] for arm in told.json()["arms"]] == [1.0, 0.25, 0.5]


def test_feedback_in_the_name_of_an_experiment_that_ended_teaches_its_model(tmp_path):
    with serving(tmp_path) as (client, service):
        stock(client)
        client.put("/v1/models/other", json={"policy": "c3_ucb", "n_features": D})
        stock(client, "other")
        client.put("/v1/experiments/spring", json=SPRING)
        shown = client.post("/v1/spring/recommend", json={"user": "a", "k": 2}).json()
        client.delete("/v1/experiments/spring")
        click = {"decision_id": shown["decision_id"], "click": 0}
        done = client.post("/v1/spring/feedback", json=click)
        assert (done.status_code, done.json()["outcome"]) == (200, "applied")
        shop = service.open_shop
        assert sum(shop.model(name).counters["learned"] for name in shop.models) == 1
        assert client.get("/v1/experiments/spring").json()["lists"] == 0
        assert client.post("/v1/spring/recommend", json={"user": "a", "k": 2}).status_code == 404
