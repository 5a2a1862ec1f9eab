from __future__ import annotations

from tests.report import made
from tests.report.claims.said import judged, verdict

PLAN = made.experiment([made.replay("Yelp", "yelp"), made.replay("MovieLens", "movielens")])


def run(tmp_path, rate, theirs=lambda panel, t: 0.4, ceiling=lambda panel: 1.0):
    """Clicks per round so far of CLUB-cascade, and of the two others."""

    def values(panel, label, seed, t):
        share = (rate if label == "CLUB" else theirs)(panel, t) * made.noise(seed, label)
        return {"reward": share * t, "regret": t - share * t, "ceiling": ceiling(panel)}

    return made.run(tmp_path / "ctr", PLAN, values)


def ahead_from(yelp: int, movies: int):
    return lambda panel, t: 0.3 if t < (yelp if panel == "Yelp" else movies) else 0.6


def test_movielens_needs_more_steps(tmp_path):
    sentence = "Comparing the performances on two datasets"
    assert verdict(sentence, run(tmp_path / "1", ahead_from(20, 80))) == "holds"
    assert verdict(sentence, run(tmp_path / "2", ahead_from(80, 20))) == "does not hold"


def test_users_of_movielens_are_more_alike(tmp_path):
    sentence = "This is because the MovieLens dataset"

    def one_model(yelp, movies):
        return lambda panel, t: yelp if panel == "Yelp" else movies

    flat = ahead_from(50, 50)
    assert verdict(sentence, run(tmp_path / "1", flat, one_model(0.3, 0.6))) == "holds"
    assert verdict(sentence, run(tmp_path / "2", flat, one_model(0.6, 0.3))) == "does not hold"
    low = run(
        tmp_path / "3", flat, one_model(0.3, 0.4), lambda panel: 0.3 if panel == "Yelp" else 1
    )
    assert verdict(sentence, low) == "does not hold"
    unknown = run(tmp_path / "4", flat, one_model(0.3, 0.4), lambda panel: float("nan"))
    assert verdict(sentence, unknown) == "not measured"


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
    yelp = run(tmp_path / "1", lambda panel, t: 0.8 if panel == "Yelp" else 0.5)
    movies = run(tmp_path / "2", lambda panel, t: 0.5 if panel == "Yelp" else 0.8)
    assert verdict(sentence, yelp) == "holds"
    assert verdict(sentence, movies) == "does not hold"
