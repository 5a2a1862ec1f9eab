from __future__ import annotations

from tests.report import made
from tests.report.claims.said import judged, verdict

PLAN = made.experiment(
    [made.replay("Yelp", "yelp"), made.replay("MovieLens", "movielens")],
    ["CLUB", "C3", "LinUCB", "random"],
)
DENSE = {"Yelp": 0.1, "MovieLens": 0.2}
SPARSE = {"Yelp": 0.2, "MovieLens": 0.1}


def run(tmp_path, rate, theirs=lambda panel, t: 0.4, ceiling=lambda panel: 1.0, density=DENSE):
    """Clicks per round so far of CLUB-cascade, of the two others, and of random lists."""
    rates = {"CLUB": rate, "random": lambda panel, t: density[panel]}

    def values(panel, label, seed, t):
        share = rates.get(label, theirs)(panel, t) * made.noise(seed, label)
        return {"reward": share * t, "regret": t - share * t, "ceiling": ceiling(panel)}

    return made.run(tmp_path / "ctr", PLAN, values)


def ahead_from(yelp: int, movies: int):
    return lambda panel, t: 0.3 if t < (yelp if panel == "Yelp" else movies) else 0.6


def test_movielens_needs_more_steps(tmp_path):
    sentence = "Comparing the performances on two datasets"
    assert verdict(sentence, run(tmp_path / "1", ahead_from(20, 80))) == "holds"
    assert verdict(sentence, run(tmp_path / "2", ahead_from(80, 20))) == "does not hold"


def test_movielens_is_dense_and_its_users_more_alike(tmp_path):
    sentence = "This is because the MovieLens dataset"

    def said(name, yelp, movies, **changes):
        one_model = {"Yelp": yelp, "MovieLens": movies}
        whole = run(
            tmp_path / name, ahead_from(50, 50), lambda panel, t: one_model[panel], **changes
        )
        return verdict(sentence, whole)

    assert said("1", 0.3, 0.6) == "holds"
    assert said("2", 0.3, 0.6, density=SPARSE) == "partly"
    assert said("3", 0.6, 0.3) == "partly"
    assert said("4", 0.6, 0.3, density=SPARSE) == "does not hold"
    tops = {"Yelp": 0.3, "MovieLens": 1.0}
    assert said("5", 0.3, 0.4, ceiling=tops.get, density=SPARSE) == "does not hold"
    unknown = said("6", 0.3, 0.4, ceiling=lambda panel: float("nan"), density=SPARSE)
    assert unknown == "does not hold", "the density is known all the same"


def test_a_temporary_advantage_of_one_model_on_movielens(tmp_path):
    sentence = "In earlier rounds, their algorithm"
    assert verdict(sentence, run(tmp_path / "1", ahead_from(50, 50))) == "holds"
    assert verdict(sentence, run(tmp_path / "2", lambda panel, t: 0.2)) == "partly"
    assert verdict(sentence, run(tmp_path / "3", lambda panel, t: 0.6)) == "partly"
    found = judged(sentence, run(tmp_path / "4", ahead_from(50, 50)))
    assert {each.panel for each in found.evidence} == {"MovieLens"}


def test_it_starts_low_and_keeps_growing(tmp_path):
    low, grows = "At the same time, our algorithm pays", "However, as the explored cluster"
    rising = run(tmp_path / "1", lambda panel, t: 0.2 + 0.005 * t)
    assert verdict(low, rising) == verdict(grows, rising) == "holds"
    falling = run(tmp_path / "2", lambda panel, t: 0.8 - 0.005 * t)
    assert verdict(low, falling) == verdict(grows, falling) == "does not hold"


def test_it_outperforms_theirs_in_the_end(tmp_path):
    sentence = "As time goes by, the cost"
    assert verdict(sentence, run(tmp_path / "1", ahead_from(50, 50))) == "holds"
    assert verdict(sentence, run(tmp_path / "2", lambda panel, t: 0.2)) == "does not hold"


def test_the_sparser_data_are_better_for_it(tmp_path):
    sentence = "In most real applications"
    for density, sparser in ((DENSE, "Yelp"), (SPARSE, "MovieLens")):
        for best, expected in ((0.8, "holds"), (0.45, "does not hold")):
            found = run(
                tmp_path / f"{sparser}{best}",
                lambda panel, t, best=best, sparser=sparser: best if panel == sparser else 0.6,
                density=density,
            )
            assert verdict(sentence, found) == expected
            assert judged(sentence, found).evidence[0].panel.startswith(f"{sparser} against")


def test_without_random_lists_nobody_knows_which_is_sparser(tmp_path):
    whole = run(tmp_path, ahead_from(50, 50))
    some = made.without(whole, lambda rows: rows["policy"] == "random")
    assert verdict("In most real applications", some) == "not measured"
