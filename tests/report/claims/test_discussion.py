from __future__ import annotations

from tests.report import made
from tests.report.claims.said import verdict


def test_clusters_are_refined_until_they_are_true(tmp_path):
    sentence = "Our algorithm explores clustering structures"
    plan = made.experiment([made.world("m=2"), made.world("m=3", n_clusters=3)], ["complete"])

    def run(name, last):
        return made.run(
            tmp_path / name / "recovery",
            plan,
            lambda panel, label, seed, t: {
                "regret": t,
                "reward": t,
                "n_clusters": last(panel) if t > 50 else 1,
            },
        )

    assert verdict(sentence, run("1", lambda panel: int(panel[-1]))) == "holds"
    assert verdict(sentence, run("2", lambda panel: 2)) == "partly"
    assert verdict(sentence, run("3", lambda panel: 6)) == "does not hold"


def test_uniform_users_are_easier(tmp_path):
    sentence = "The uniform user appearance assumption"
    weights = [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    plan = made.experiment([made.world("even"), made.world("uneven", arrivals=weights)])
    for even, uneven, expected in ((50, 80, "holds"), (80, 50, "does not hold")):
        finals = {(p, c.label): even for c in plan.policies for p in ("even",)}
        finals |= {("uneven", c.label): uneven for c in plan.policies}
        run = made.run(tmp_path / expected / "activity", plan, made.regrets(finals))
        assert verdict(sentence, run) == expected


def test_fresh_items_tell_users_apart(tmp_path):
    sentence = "This assumption is to guarantee the shrinkage"
    plan = made.experiment([made.world("fixed", items="fixed"), made.world("fresh", items="fresh")])

    def run(name, fresh):
        return made.run(
            tmp_path / name / "fresh",
            plan,
            lambda panel, label, seed, t: {
                "regret": t,
                "reward": t,
                "rand_index": fresh if panel == "fresh" else 0.0,
            },
        )

    assert verdict(sentence, run("1", 1.0)) == "holds"
    assert verdict(sentence, run("2", 0.2)) == "does not hold"


def starts(tmp_path, *, complete: tuple[int, float, float], sparse: tuple[int, float, float]):
    """Two starts: the round of their split, their regret, their seconds."""
    plan = made.experiment([made.world("(a)")], ["CLUB", "complete"])

    def values(panel, label, seed, t):
        split, regret, seconds = sparse if label == "CLUB" else complete
        luck = made.noise(seed, label)
        return {
            "regret": regret * t / 100 * luck,
            "reward": t / 2,
            "n_clusters": 2 if t >= split + 5 * (seed % 2) else 1,
            "seconds": seconds * luck,
        }

    return made.run(tmp_path / "start", plan, values)


def test_the_complete_start_splits_later(tmp_path):
    sentence = "Thus a bigger cluster can be split"
    late = starts(tmp_path / "1", complete=(80, 1.0, 1.0), sparse=(20, 1.0, 1.0))
    early = starts(tmp_path / "2", complete=(20, 1.0, 1.0), sparse=(80, 1.0, 1.0))
    never = starts(tmp_path / "3", complete=(999, 1.0, 1.0), sparse=(999, 1.0, 1.0))
    assert verdict(sentence, late) == "holds"
    assert verdict(sentence, early) == "does not hold"
    assert verdict(sentence, never) == "undecided"


def test_the_sparse_start_is_faster_in_regret_and_in_time(tmp_path):
    for sentence in (
        "To accelerate our algorithm, a random",
        "To accelerate our algorithm, we use",
    ):
        for sparse, expected in (
            ((20, 50.0, 0.5), "holds"),
            ((20, 50.0, 2.0), "partly"),
            ((20, 200.0, 2.0), "does not hold"),
        ):
            run = starts(tmp_path / str(sparse), complete=(20, 100.0, 1.0), sparse=sparse)
            assert verdict(sentence, run) == expected
