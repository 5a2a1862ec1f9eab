from __future__ import annotations

import pytest

from tests.report import made
from tests.report.claims.said import judged, verdict

SENTENCES = [
    "We conduct experiments on both synthetic and real data",
    "Finally we experiment on both",
    "Then we report experimental results",
    "In both synthetic and real datasets",
    "The experiments conducted on both",
]


def synthetic(tmp_path, ours: float, theirs: float = 100.0):
    plan = made.experiment([made.world("(a)"), made.world("(b)")])
    finals = {
        (panel, label): ours if label == "CLUB" else theirs
        for panel in ("(a)", "(b)")
        for label in ("CLUB", "C3", "LinUCB")
    }
    return made.run(tmp_path / "synthetic", plan, made.regrets(finals))


def real(tmp_path, ours: float):
    plan = made.experiment([made.replay("u=40", "yelp")])
    finals = {("u=40", "CLUB"): ours, ("u=40", "C3"): 0.4, ("u=40", "LinUCB"): 0.4}
    return made.run(tmp_path / "yelp", plan, made.rates(finals))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_less_regret_and_more_clicks_everywhere(tmp_path, sentence):
    good, bad = synthetic(tmp_path / "1", 50.0), synthetic(tmp_path / "2", 150.0)
    assert verdict(sentence, good) == "holds"
    assert verdict(sentence, bad) == "does not hold"
    assert verdict(sentence, good, real(tmp_path / "3", 0.6)) == "holds"
    assert verdict(sentence, good, real(tmp_path / "4", 0.2)) == "partly"
    assert verdict(sentence, bad, real(tmp_path / "5", 0.2)) == "does not hold"
    assert verdict(sentence, synthetic(tmp_path / "6", 100.1)) == "undecided"


def test_the_evidence_has_the_numbers(tmp_path):
    found = judged(SENTENCES[0], synthetic(tmp_path, 50.0))
    assert [(e.panel, e.folder) for e in found.evidence] == [
        ("(a)", "synthetic"),
        ("(a)", "synthetic"),
        ("(b)", "synthetic"),
        ("(b)", "synthetic"),
    ]
    first = found.evidence[0]
    assert first.what == "regret after 100 rounds"
    assert first.numbers.startswith("CLUB 5") and "ratio 0.50 [0.4" in first.numbers
    assert first.value == pytest.approx(0.5, abs=0.01)


def test_worlds_that_differ_much_do_not_hide_a_small_steady_advantage(tmp_path):
    """One seed is one world for all policies: only the differences count."""
    plan = made.experiment([made.world("(a)")])
    run = made.run(
        tmp_path / "synthetic",
        plan,
        lambda panel, label, seed, t: {
            "regret": 1000.0 * seed + t - (5.0 + seed / 10 if label == "CLUB" else 0.0),
            "reward": t / 2,
        },
    )
    assert verdict(SENTENCES[0], run) == "holds"


def test_a_single_seed_decides_nothing(tmp_path):
    plan = made.experiment([made.world("(a)")], seeds=1)
    finals = {("(a)", "CLUB"): 1.0, ("(a)", "C3"): 100.0, ("(a)", "LinUCB"): 100.0}
    run = made.run(tmp_path / "synthetic", plan, made.regrets(finals))
    assert verdict(SENTENCES[0], run) == "undecided"


@pytest.mark.parametrize("figure", ["yelp", "movielens"])
def test_a_clear_advantage_on_real_data(tmp_path, figure):
    plan = made.experiment([made.replay("u=40", figure)])
    for ours, expected in ((0.6, "holds"), (0.2, "does not hold")):
        finals = {("u=40", "CLUB"): ours, ("u=40", "C3"): 0.4, ("u=40", "LinUCB"): 0.4}
        run = made.run(tmp_path / str(ours) / figure, plan, made.rates(finals))
        assert verdict("From the results, the performance", run) == expected
        assert verdict("In real applications, the estimated", run) == expected
