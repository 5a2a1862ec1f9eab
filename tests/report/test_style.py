from __future__ import annotations

from clubcascade.report.style import COLOURS, DARK_COLOURS, OWN, PLACES, line_style, styles
from tests.experiment import tiny
from tests.report import made


def brightness(colour: str) -> float:
    """Relative luminance, as the contrast rules of the web define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_two_lines_look_alike():
    looks = [line_style(place) for place in range(49)]
    assert len({(look.colour, str(look.dash), look.marker) for look in looks}) == 49


def test_known_policies_look_the_same_in_every_figure():
    plan = made.experiment([made.world("a")], list(made.LABELS))
    given = styles(plan)
    for contender in plan.policies:
        if contender.policy in PLACES:
            place = 1 if contender.label == "complete" else PLACES[contender.policy]
            assert given[contender.label] == line_style(place)
    few = styles(made.experiment([made.world("a")], ["MultipleLinUCB", "CLUB"]))
    assert few == {label: given[label] for label in ("MultipleLinUCB", "CLUB")}


def test_styles_are_distinct():
    sweep = [tiny.policy("club_cascade", f"alpha={n}", users="all") for n in range(20)]
    given = styles(tiny.experiment(policies=[*sweep, tiny.policy()]))
    assert len(set(given.values())) == 21
    assert (given["alpha=0"], given["C3-UCB"]) == (line_style(0), line_style(2))


def test_nobody_shares_the_colour_of_cohort_cascade():
    others = [tiny.policy("club_cascade", f"alpha={n}", users="all") for n in range(30)]
    looks = styles(tiny.experiment(policies=[*others, tiny.policy("cohort_cascade", "cohort")]))
    own = looks.pop("cohort")
    assert own.colour == COLOURS[OWN] and own.dark == DARK_COLOURS[OWN]
    assert own.colour not in {look.colour for look in looks.values()}
    assert brightness(own.colour) > 0.1, "neither black nor grey"
    red, green, blue = (int(own.colour[i : i + 2], 16) for i in (1, 3, 5))
    assert max(red, green, blue) - min(red, green, blue) > 60


def test_dark_colours_stand_out_from_a_dark_page():
    page = brightness("#14171c")
    for colour in DARK_COLOURS:
        assert (brightness(colour) + 0.05) / (page + 0.05) > 4.5
    assert len(DARK_COLOURS) == len(COLOURS)
