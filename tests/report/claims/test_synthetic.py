from __future__ import annotations

from tests.report import made
from tests.report.claims.said import judged, verdict

PANELS = {
    "far 2": {"gap": "orthogonal", "n_clusters": 2},
    "far 5": {"gap": "orthogonal", "n_clusters": 5},
    "near 2": {"gap": 0.2, "n_clusters": 2},
    "near 5": {"gap": 0.2, "n_clusters": 5},
}
LABELS = ("CLUB", "complete", "C3", "LinUCB")
PLAN = made.experiment([made.world(title, **p) for title, p in PANELS.items()], LABELS)


def run(tmp_path, regret, **columns):
    """A run in which others lose 1 a round, and CLUB-cascade what the function says."""

    def values(panel, label, seed, t):
        lost = regret(panel, t) if label == "CLUB" else float(t)
        more = {name: value(panel, t) for name, value in columns.items() if label == "CLUB"}
        return {"regret": lost * made.noise(seed, label), "reward": t / 2} | more

    return made.run(tmp_path / "synthetic", PLAN, values)


def test_a_better_advantage_with_more_clusters(tmp_path):
    sentence = "When the gap γ between weight vectors θ is fixed"
    more = run(tmp_path / "1", lambda panel, t: t / int(panel[-1]))
    less = run(tmp_path / "2", lambda panel, t: t * int(panel[-1]))
    assert verdict(sentence, more) == "holds"
    assert verdict(sentence, less) == "does not hold"
    found = judged(sentence, more)
    assert [e.panel for e in found.evidence[::2]] == [
        "far 5 against far 2",
        "near 5 against near 2",
    ]
    assert "5.0" in found.evidence[0].numbers and "2.0" in found.evidence[0].numbers


def ahead_from(near: int, far: int):
    def regret(panel, t):
        start = near if panel.startswith("near") else far
        return 1.2 * t if t < start else 0.5 * t

    return regret


def test_a_smaller_gap_takes_longer(tmp_path):
    for sentence in ("Thus under the same number of clusters", "Although our algorithm needs"):
        assert verdict(sentence, run(tmp_path / "1", ahead_from(80, 20))) == "holds"
        assert verdict(sentence, run(tmp_path / "2", ahead_from(20, 80))) == "does not hold"
        assert verdict(sentence, run(tmp_path / "3", ahead_from(50, 50))) == "does not hold"
        never = run(tmp_path / "4", ahead_from(999, 20))
        assert verdict(sentence, never) == "holds"
        (first, *_) = judged(sentence, never).evidence
        assert first.numbers == "first panel not reached in 4 of 4 runs, second panel 20"
        assert first.caveat == "not reached"


def test_what_is_never_reached_says_nothing(tmp_path):
    for sentence in ("Thus under the same number of clusters", "Although our algorithm needs"):
        found = judged(sentence, run(tmp_path, ahead_from(999, 999)))
        assert {str(each.verdict) for each in found.evidence} == {"undecided"}
        assert found.evidence[0].numbers == (
            "first panel not reached in 4 of 4 runs, second panel not reached in 4 of 4 runs"
        )


def test_one_model_is_better_in_early_rounds(tmp_path):
    near, everywhere = "Because γ=0.2 means near-1", "Note that our algorithm is not as good"
    behind = run(tmp_path / "1", lambda panel, t: 2 * t if t <= 10 else t / 2)
    assert verdict(near, behind) == verdict(everywhere, behind) == "holds"
    only_near = run(tmp_path / "2", lambda panel, t: t * (2 if panel[0] == "n" else 0.5))
    assert verdict(near, only_near) == "holds"
    assert verdict(everywhere, only_near) == "partly"
    ahead = run(tmp_path / "3", lambda panel, t: t / 2)
    assert verdict(near, ahead) == verdict(everywhere, ahead) == "does not hold"


def test_their_advantage_shrinks_in_the_last_quarter(tmp_path):
    sentence = "However, after our algorithm learns out the true"
    flat = run(tmp_path / "1", lambda panel, t: 2.0 * min(t, 75))
    assert verdict(sentence, flat) == "holds"
    steep = run(tmp_path / "2", lambda panel, t: 0.1 * t + 3.0 * max(t - 75, 0))
    assert verdict(sentence, steep) == "does not hold"
    assert judged(sentence, steep).evidence[0].what == "regret from round 75 to 100"


def test_the_sparse_start_costs_early_rounds(tmp_path):
    sentence = "The reason is that we use a random sparse"
    assert verdict(sentence, run(tmp_path / "1", lambda panel, t: 2.0 * t)) == "holds"
    assert verdict(sentence, run(tmp_path / "2", lambda panel, t: 0.5 * t)) == "does not hold"


def test_the_clusters_are_found(tmp_path):
    sentence = "However, after collecting enough information"

    def found(index):
        return run(
            tmp_path / str(index),
            lambda panel, t: t / 2,
            rand_index=lambda panel, t: index if t > 50 else 0.95,
            n_clusters=lambda panel, t: int(panel[-1]),
        )

    assert verdict(sentence, found(1.0)) == "holds"
    assert verdict(sentence, found(0.9)) == "holds"
    assert verdict(sentence, found(0.5)) == "does not hold"
    numbers = judged(sentence, found(0.5)).evidence[1].numbers
    assert numbers.startswith("CLUB 0.500 [0.500, 0.500]; 5 clusters, 5 in truth; at best 0.950")


def test_sentences_that_need_no_run():
    assert verdict("The difference gap γ in (b)(d)") == "holds"
    assert verdict("The θ's in subfigures (a)(c)") == "partly"
