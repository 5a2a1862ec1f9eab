from __future__ import annotations

import math

import pytest

from clubcascade.experiment.tuning import Line, Search

ALPHA = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, math.inf)
REG = (0.1, 0.25, 0.5, 1, 2, 4, 8)


def bowl(**centre):
    """A made-up response surface: the distance to its lowest point, in steps of a factor."""

    def surface(point):
        return sum(abs(math.log(min(point[name], 1e9) / at)) for name, at in centre.items())

    return surface


def searched(tune, surface, budget=48, **more):
    search = Search(tune, budget, **more)
    steps = search.steps()
    batch = next(steps)
    batches = [batch]
    try:
        while True:
            batch = steps.send([surface(point) for point in batch])
            batches.append(batch)
    except StopIteration:
        pass
    assert sum(map(len, batches)) == len(search.tried) <= budget
    assert len({repr(point) for point in search.tried}) == len(search.tried)
    return search, batches


def test_an_optimum_inside_is_found_line_by_line():
    search, batches = searched({"alpha": ALPHA, "reg": REG}, bowl(alpha=8, reg=0.5))
    assert search.best == {"alpha": 8, "reg": 0.5}
    assert (search.edge, search.spent, search.found) == ("", False, True)
    assert batches[0] == [{"alpha": value, "reg": reg} for reg in (0.5, 4) for value in ALPHA]
    assert batches[1] == [{"alpha": 8, "reg": value} for value in REG if value not in (0.5, 4)]
    assert len(batches) == 2


def test_a_pair_that_is_good_together_only_is_found():
    """As in Figure 1 (d): no edge cut needs a large beta, and either change alone does harm."""

    def surface(point):
        together = point["alpha"] >= 8 and point["beta"] >= 1
        return 1.0 if together else 5.0 + abs(math.log(min(point["alpha"], 99) * point["beta"]))

    beta = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, 2)
    search, _ = searched({"alpha": ALPHA, "beta": beta, "reg": REG}, surface)
    assert search.best["alpha"] == 8 and search.best["beta"] == 1


@pytest.mark.parametrize(
    ("optimum", "found", "edge"),
    [
        (8, 8, ""),  # the end itself: the values beyond are tried, and are worse
        (32, 32, ""),
        (0.1, 0.1, ""),
        (0.016, 0.016, ""),
        (8 * 2**6, 512, "reg high"),  # after three extensions it is still an end
        (1e6, 512, "reg high"),
        (1e-6, 0.0004096, "reg low"),
    ],
)
def test_a_line_is_extended_where_its_best_is_an_end(optimum, found, edge):
    search, _ = searched({"reg": REG}, bowl(reg=optimum))
    assert search.best["reg"] == pytest.approx(found, rel=1e-3)
    assert search.edge == edge and not search.spent


def test_infinity_zero_and_bounds_are_no_edges():
    search, _ = searched({"alpha": ALPHA}, bowl(alpha=1e9))
    assert search.best == {"alpha": math.inf} and search.edge == "" and len(search.tried) == 9
    line = Line(list(ALPHA))
    assert line.end(math.inf, ALPHA) == "" and not line.extend(math.inf, lambda value: True)
    assert line.values == list(ALPHA) and line.end(0.1, ALPHA) == "low"
    search, _ = searched({"beta": (0.0, 0.5, 1.0)}, lambda point: point["beta"])
    assert search.best == {"beta": 0.0} and search.edge == "" and len(search.tried) == 3
    share = {"share": (0.1, 0.2, 0.4)}
    search, _ = searched(share, bowl(share=9), possible=lambda name, value: value <= 1)
    assert search.best == {"share": 0.8} and search.edge == ""
    search, _ = searched({"n": (1, 2, 4)}, lambda point: point["n"])
    assert search.best == {"n": 1} and search.edge == "" and len(search.tried) == 3


def test_lines_without_a_ratio_are_not_extended():
    search, _ = searched({"beta": (0.0, 1.0)}, lambda point: -point["beta"])
    assert search.best == {"beta": 1.0} and search.edge == "beta high" and len(search.tried) == 2
    search, _ = searched({"low": (-1.0, 1.0)}, lambda point: -point["low"])
    assert search.edge == "low high" and len(search.tried) == 2
    search, _ = searched(
        {"start": ("random", "complete")}, lambda point: point["start"] == "random"
    )
    assert search.best == {"start": "complete"} and search.edge == ""
    search, _ = searched({"reg": (4.0,), "on": (True, False)}, lambda point: 1.0)
    assert search.best == {"reg": 4.0, "on": True} and search.edge == "" and len(search.tried) == 2


def test_whole_numbers_stay_whole():
    search, _ = searched({"n": (2, 3, 4)}, bowl(n=7))
    assert search.best == {"n": 7} and isinstance(search.best["n"], int)


def test_a_ridge_is_followed_sweep_by_sweep():
    def ridge(point):
        a, r = math.log2(point["a"]), math.log2(point["r"])
        return 10 * abs(a - r) + abs(a + r - 10)

    line = tuple(2.0**n for n in range(-5, 6))
    search, _ = searched({"a": line, "r": line}, ridge, budget=1000)
    assert search.best == {"a": 8.0, "r": 8.0}  # a sharp one: no step along one line is better

    def soft(point):
        a, r = math.log2(point["a"]), math.log2(point["r"])
        return (a - r) ** 2 + 0.5 * (a + r - 10) ** 2

    search, batches = searched({"a": line, "r": line}, soft, budget=1000)
    assert search.best == {"a": 32.0, "r": 32.0} and len(batches) > 4
    search, batches = searched({"a": line, "r": line}, soft, budget=30)
    assert search.spent and len(search.tried) == 30


def test_a_spent_budget_stops_the_search_next_to_the_best():
    search, batches = searched({"alpha": ALPHA, "reg": REG}, bowl(alpha=8, reg=0.1), budget=20)
    assert search.spent and [len(batch) for batch in batches] == [18, 2]
    assert batches[1] == [{"alpha": 8, "reg": 0.25}, {"alpha": 8, "reg": 1}]
    assert search.best == {"alpha": 8, "reg": 0.25} and search.edge == "reg low"
    search, _ = searched({"alpha": ALPHA, "reg": REG}, bowl(alpha=8, reg=0.1), budget=9)
    assert search.spent and search.best == {"alpha": 8, "reg": 0.5} and search.edge == ""
    search, _ = searched({"reg": REG}, bowl(reg=1), budget=7)
    assert not search.spent and search.best == {"reg": 1}


def test_the_first_of_equals_wins_also_over_extensions():
    search, _ = searched({"reg": REG}, lambda point: 1.0)
    assert search.best == {"reg": 0.1} and search.edge == ""
    search, _ = searched({"reg": (4, 2, 1)}, lambda point: min(point["reg"], 2))
    assert search.best == {"reg": 1}


def test_points_that_fail_are_never_chosen():
    def failing(point):
        return math.nan if point["reg"] >= 2 else -point["reg"]

    search, _ = searched({"reg": REG}, failing)
    assert search.best == {"reg": 1} and search.edge == ""
    start_fails = {"alpha": (1, 2, 3), "reg": (1, 2, 3)}
    search, _ = searched(start_fails, lambda p: math.nan if p["alpha"] == 2 else p["reg"])
    assert search.best["alpha"] == 1 and search.found
    search, _ = searched({"alpha": ALPHA, "reg": REG}, lambda point: math.nan)
    assert not search.found and search.best == {"alpha": 2, "reg": 1}


def test_the_number_of_points_is_known_beforehand_as_well_as_can_be():
    assert Search({"reg": REG}, 48).most == 7
    assert Search({"alpha": ALPHA, "reg": REG}, 48).most == 48
