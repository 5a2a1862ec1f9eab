from __future__ import annotations

from clubcascade.report.page.header import machine, origin_list, runs_table
from tests.report import made

PLAN = made.experiment([made.world("(a)")], figure=1)
RUN = made.run(
    made.Path("synthetic"),
    PLAN,
    made.regrets({("(a)", contender.label): 1.0 for contender in PLAN.policies}),
)


def test_what_was_run():
    text = runs_table([RUN])
    for part in ('href="#run-synthetic"', "Figure 1: made by hand", ">100<", "12 (4 seeds)"):
        assert part in text


def test_where_it_ran():
    origin = {"platform": "Linux", "processor": "x86_64", "cores": 2}
    assert machine(origin) == "Linux, x86_64, 2 cores"
    assert machine({}) == "–"


def test_all_that_is_known_is_listed():
    text = origin_list({"commit": None, "seeds": [0, 1], "packages": {"numpy": "2.0"}})
    assert '<th scope="row">packages numpy</th><td>2.0</td>' in text
    assert "<td>0, 1</td>" in text and "<td>–</td>" in text
    assert "does not say" in origin_list({})
