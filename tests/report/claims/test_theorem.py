from __future__ import annotations

from clubcascade.report.claims import Verdict
from tests.experiment import tiny
from tests.report import made
from tests.report.claims.said import judged, verdict

CONSTANTS = {"alpha": {"theorem": 2}, "beta": {"theorem": 2}}
PLAN = tiny.experiment(
    rounds=100,
    seeds=3,
    policies=[
        tiny.policy("club_cascade", "theirs", users="all", **CONSTANTS),
        tiny.policy("club_cascade", "ours", users="all", alpha=2.0),
        tiny.policy("theorem_bound", "Theorem 2"),
        tiny.policy("theorem_bound", "learning only", part="learning"),
    ],
)


def run(tmp_path, regret, bound=lambda t: 1000.0):
    curves = {"theirs": regret, "ours": lambda t: 5000.0, "Theorem 2": bound}

    def values(panel, label, seed, t):
        curve = curves.get(label, lambda t: 0.0)
        return {"regret": curve(t) * (made.noise(seed, label) if label == "theirs" else 1)}

    return made.run(tmp_path / "bound", PLAN, values)


def test_no_run_may_ever_pass_the_bound(tmp_path):
    sentence = "Then the cumulative regret of CLUB-cascade"
    below = run(tmp_path / "1", lambda t: 5.0 * t)
    assert verdict(sentence, below) == "holds"
    (found,) = judged(sentence, below).evidence
    assert found.numbers.endswith("the bound is above the 100 rounds: vacuous")
    assert found.caveat == "vacuous bound"
    assert 0.4 < found.value < 0.6
    once = run(tmp_path / "2", lambda t: 1.0 if t != 50 else 40.0, bound=lambda t: 30.0)
    (found,) = judged(sentence, once).evidence
    assert found.verdict is Verdict.FAILS and not found.caveat and "vacuous" not in found.numbers


def test_the_order_of_growth(tmp_path):
    sentence = "We propose an algorithm of CLUB-cascade"
    assert verdict(sentence, run(tmp_path / "1", lambda t: t**0.5)) == "holds"
    assert verdict(sentence, run(tmp_path / "2", lambda t: 3.0 * t)) == "does not hold"
    (found,) = judged(sentence, run(tmp_path / "3", lambda t: 3.0 * t)).evidence
    assert found.what.endswith("from round 50 to 100")
    assert found.numbers.startswith("theirs 1 [1, 1]; √T ln T: 0.74")
    assert verdict(sentence, run(tmp_path / "4", lambda t: 0.0)) == "not measured"
