from __future__ import annotations

import pytest

from clubcascade.errors import InvalidArgument
from clubcascade.report.figures import overview, save_overview
from tests.report import made

LABELS = ("CLUB", "C3", "LinUCB")


def even(panels):
    return made.rates({(panel, label): 0.5 for panel in panels for label in LABELS}, ceiling=0.8)


@pytest.fixture
def place(tmp_path):
    plan = made.experiment(
        [made.world("near", gap=0.2, n_clusters=5), made.world("far", gap="orthogonal")]
    )
    made.folder(tmp_path / "synthetic", plan, even(["near", "far"]))
    plan = made.experiment(
        [made.replay("small", "yelp"), made.replay("large", "yelp", n_users=200)]
    )
    made.folder(tmp_path / "yelp", plan, even(["small", "large"]))
    return tmp_path


def test_the_largest_panel_of_every_main_experiment(place):
    path = save_overview(place, place / "best.svg")
    text = path.read_text(encoding="utf-8")
    assert "synthetic: far" in text and "yelp: large" in text
    assert "near" not in text and "small" not in text
    first = path.read_bytes()
    assert save_overview(place, path).read_bytes() == first


def test_six_lines_at_most_with_the_oracle(tmp_path):
    made.LABELS["alpha 2"] = made.LABELS["CLUB"]
    try:
        plan = made.experiment([made.world("(a)")], list(made.LABELS))
    finally:
        del made.LABELS["alpha 2"]
    finals = {("(a)", c.label): 0.5 for c in plan.policies}
    run = made.run(tmp_path / "synthetic", plan, made.rates(finals))
    drawn = overview([run])
    assert len(drawn.axes[0].lines) == 6
    (legend,) = drawn.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["CLUB", "C3", "MultipleLinUCB", "cohort", "known clusters", "oracle"]


def test_one_experiment_shows_its_panels(place):
    text = save_overview(place / "yelp", place / "best.svg").read_text(encoding="utf-8")
    assert "yelp: small" in text and "yelp: large" in text


def test_png_by_its_ending_and_nothing_else(place):
    path = save_overview(place, place / "best.PNG")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidArgument, match=r"ending of the picture must be one of .*\.gif"):
        save_overview(place, place / "best.gif")
    assert not (place / "best.gif").exists()
