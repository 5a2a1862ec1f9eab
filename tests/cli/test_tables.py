from __future__ import annotations

import pandas as pd
import pytest
from rich.console import Console

from clubcascade.cli.tables import final_values
from clubcascade.experiment import Results
from tests.experiment import tiny


def shown(**changes):
    panels = [tiny.panel("(a)"), tiny.panel("(b)") | {"policies": ["CLUB"], "rounds": 30}]
    experiment = tiny.experiment(panels=panels, **changes)
    rows = [
        {"panel": panel, "policy": "CLUB", "seed": seed, "round": t, "reward": t * 0.5}
        | {"regret": t * (seed + 1.0), "n_clusters": 2, "rand_index": 0.25}
        for panel, t in (("(a)", 60), ("(b)", 30))
        for seed in (0, 1)
    ]
    console = Console(width=120)
    with console.capture() as capture:
        console.print(final_values(Results(experiment, pd.DataFrame(rows))))
    return capture.get()


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("regret", "regret after the last round"),
        ("reward", "clicks in 100 rounds"),
        ("missed", "clicks in 100 rounds"),
        ("ctr", "clicks in 100 rounds"),
        ("rand_index", "adjusted Rand index"),
        ("n_clusters", "clusters after"),
    ],
)
def test_the_table_shows_what_the_panels_show(measure, words):
    assert words in shown(measure=measure)


def test_a_policy_is_failed_or_not_asked_for():
    lines = shown().splitlines()
    (random,) = [line for line in lines if "random" in line]
    assert random.split() == ["random", "failed"]
    (club,) = [line for line in lines if "CLUB" in line]
    assert club.split() == ["CLUB", "90±381", "45±191"]


def test_many_panels_are_rows(monkeypatch):
    monkeypatch.setattr("clubcascade.cli.tables.MANY", 1)
    first, second = [line.split() for line in shown().splitlines() if line.strip()[:1] == "("]
    assert first == ["(a)", "90±381", "failed"] and second == ["(b)", "45±191"]
