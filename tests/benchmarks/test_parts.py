"""Every measurement, at tiny sizes, gives what its table shows. No seconds are asserted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import engine
from benchmarks.engine import (
    baselines,
    batches,
    growth,
    long_run,
    newcomers,
    profile,
    speed,
    start,
)
from benchmarks.engine.clock import pace, product_seconds
from benchmarks.engine.worlds import paper_policy, paper_world
from clubcascade.policies import POLICIES

LENGTHS = {"rounds": 120, "literal": 10, "python": 20, "repeats": 2}


def complete(table):
    """The table has a value for every column in some row, and can be written."""
    for column in table.columns:
        if column.heading and column.key not in ("peak_mb", "target", "products_met", "slope"):
            assert any(row.get(column.key) is not None for row in table.rows), column.key
    assert len(table.cells()) == len(table.rows) == table.markdown().count("\n") - 1


def test_speed():
    answer = speed.measure(n_users=6, n_items=30, **LENGTHS)
    table = speed.PART.table([answer])
    complete(table)
    assert [row["path"] for row in table.rows] == [speed.FIXED, speed.FRESH, speed.PYTHON]
    for row in table.rows:
        assert row["ratio"] == pytest.approx(row["literal"] / row["microseconds"])
        assert row["regret"] == pytest.approx(row["literal_regret"])
    fixed, _, python = table.rows
    assert python["regret"] == pytest.approx(fixed["regret"])
    assert python["rounds"] == 60 and fixed["literal_rounds"] == 30


@pytest.mark.parametrize(
    ("path", "size", "microseconds", "words"),
    [
        (speed.FIXED, (200, 1000), 10.0, ("met", "met")),
        (speed.FIXED, (200, 1000), 31.0, ("not met", "not met")),
        (speed.FIXED, (40, 200), 10.0, ("met", None)),
        (speed.PYTHON, (900, 1000), 10.0, ("not met", None)),
        (speed.FRESH, (41, 200), 10.0, (None, None)),
    ],
)
def test_targets_are_judged(path, size, microseconds, words):
    row = {"path": path, "n_users": size[0], "n_items": size[1], "product": 10.0}
    row |= {"microseconds": microseconds, "literal": 1000.0}
    judged = speed.judged(row)
    assert (judged["met"], judged["products_met"]) == words


def test_growth():
    users = [growth.users(n_users=n, rounds=200, repeats=2) for n in (30, 60)]
    table = growth.USERS.table(users)
    complete(table)
    assert [row["n_users"] for row in table.rows] == [30, 60] and table.rows[0]["ratio"] == 1.0
    assert 0 < users[0]["seen"] <= 30 and users[0]["clusters"] >= 1
    complete(growth.ITEMS.table([growth.items(n_items=20, rounds=120, repeats=1)]))
    features = [growth.features(n_features=d, rounds=120, repeats=1) for d in (1, 3)]
    table = growth.FEATURES.table(features)
    complete(table)
    assert table.rows[0]["slope"] is None and math.isfinite(table.rows[1]["slope"])


def test_newcomers():
    kinds = ("ClubCascade, complete", "ClubCascade, sparse")
    answers = [newcomers.measure(kind, n_users=30, rounds=20, joins=40) for kind in kinds]
    table = newcomers.PART.table(answers)
    complete(table)
    for row in table.rows:
        assert row["ratio"] == pytest.approx(row["newcomer"] / row["round"])
    assert {job.arguments["kind"] for job in newcomers.PART.jobs(True)} == set(newcomers.KINDS)


def test_a_long_run_keeps_its_inverses():
    answer = long_run.measure(rounds=300)
    complete(long_run.PART.table([answer]))
    assert 0 <= answer["drift_end"] <= answer["drift"] < 1e-8


def test_drift_is_seen():
    policy = paper_policy(5)
    assert long_run.drift(policy) < 1e-15
    policy._learner.models.arrays["inverse"][0, 0, 0] += 1.0
    assert long_run.drift(policy) == pytest.approx(4.0)


def test_batches():
    answers = [
        batches.updates(n_users=8, events=60, repeats=1),
        batches.lists(n_users=8, n_items=30, batch=20, threads=9, repeats=1),
    ]
    assert answers[1]["met"] == "same lists"
    complete(batches.PART.table([{**answers[1], "threads": 1}, *answers]))


def test_every_policy_is_measured():
    answer = baselines.measure(n_users=6, n_items=20, rounds=40, repeats=1)
    rows = baselines.PART.table([answer]).rows
    assert sorted(row["policy"] for row in rows) == sorted(POLICIES)
    assert all("microseconds" in row for row in rows)


def test_profile():
    answer = profile.measure(n_users=6, n_items=20, rounds=200, repeats=1)
    complete(profile.PART.table([answer]))
    parts = [answer[name] for name in ("world", "model", "compare", "split")]
    assert sum(parts) == pytest.approx(answer["club"])


def test_start():
    rows = start.PART.table([start.imports(repeats=1)]).rows
    assert rows[0]["target"] == "< 1"
    first = start.first_calls()
    assert 0 < first["library"] <= first["whole"]
    assert start.verdict("x", 31.0, 30.0)["met"] == "not met"


def test_pace_leaves_watching_out():
    looks = []
    found = pace(paper_policy(5), paper_world(5, 20), 300, looks.append)
    assert looks[-1] == 300 and found.whole > 0 and found.late > 0


def test_the_product_takes_longer_for_more_rows():
    few, many = (product_seconds(np.ones((n, 20)), runs=3, least=1e-3) for n in (10, 100_000))
    assert few < many


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("part", engine.PARTS.values(), ids=lambda part: part.name)
def test_every_job_can_be_sent_to_a_process(part, quick):
    for job in part.jobs(quick):
        assert job.function.__module__.startswith("benchmarks.engine.")
        assert job.label and isinstance(job.arguments, dict)
