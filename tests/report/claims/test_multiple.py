from __future__ import annotations

import pytest

from tests.report import made
from tests.report.claims.said import judged, verdict

PANELS = [
    made.replay(f"{name}, u={n}", name.lower(), n_users=n)
    for name in ("Yelp", "MovieLens")
    for n in (40, 900)
]
PLAN = made.experiment(PANELS, ["CLUB", "MultipleLinUCB"])


def run(tmp_path, rate):
    """One model per user has 0.4 clicks per round, CLUB-cascade what the function says."""

    def values(panel, label, seed, t):
        name, users = panel.split(", u=")
        share = (rate(name, int(users), t) if label == "CLUB" else 0.4) * made.noise(seed, label)
        return {"reward": share * t, "regret": t - share * t}

    return made.run(tmp_path / "multiple", PLAN, values)


def test_significant_advantages_with_more_users(tmp_path):
    sentence = "From the figures, our algorithm has significant"
    many = run(tmp_path / "1", lambda name, users, t: 0.6 if users == 900 else 0.1)
    assert verdict(sentence, many) == "holds"
    assert [e.panel for e in judged(sentence, many).evidence] == [
        "Yelp, u=900",
        "MovieLens, u=900",
    ]
    few = run(tmp_path / "2", lambda name, users, t: 0.6 if users == 40 else 0.1)
    assert verdict(sentence, few) == "does not hold"


def test_borrowing_helps_early(tmp_path):
    sentence = "When there are many users, it takes a long time"
    early = run(tmp_path / "1", lambda name, users, t: 0.6 if t <= 50 else 0.1)
    late = run(tmp_path / "2", lambda name, users, t: 0.1 if t <= 50 else 0.6)
    assert verdict(sentence, early) == "holds"
    assert verdict(sentence, late) == "does not hold"


@pytest.mark.parametrize(("many", "few", "expected"), [(0.8, 0.5, "holds"), (0.5, 0.8, "fails")])
def test_less_help_with_few_users(tmp_path, many, few, expected):
    found = run(tmp_path, lambda name, users, t: many if users == 900 else few)
    said = verdict("When there are few users, each user", found)
    assert said == {"holds": "holds", "fails": "does not hold"}[expected]


def test_a_bigger_advantage_on_movielens(tmp_path):
    sentence = "Note that our algorithm has a bigger advantage"
    movies = run(tmp_path / "1", lambda name, users, t: 0.8 if name == "MovieLens" else 0.5)
    yelp = run(tmp_path / "2", lambda name, users, t: 0.5 if name == "MovieLens" else 0.8)
    assert verdict(sentence, movies) == "holds"
    assert verdict(sentence, yelp) == "does not hold"
    assert len(judged(sentence, movies).evidence) == 2
