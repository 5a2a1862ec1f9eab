from __future__ import annotations

import pytest

from clubcascade.report.claims import CLAIMS, Claim, Evidence, Verdict, _claim, judge
from clubcascade.report.comparisons import KINDS, compare
from clubcascade.report.folders import PAPER
from clubcascade.report.selection import Comparison
from tests.report import made

EVEN = made.regrets({("(a)", label): 10.0 for label in ("CLUB", "C3", "LinUCB")})


def test_only_folders_of_the_right_figure_are_asked(tmp_path):
    plan = made.experiment([made.world("(a)")], ["CLUB", "C3"])
    runs = [made.run(tmp_path / name, plan, EVEN) for name in ("yelp", "yelp-mine", "synthetic")]
    ours = Comparison(kind="better", between=("ours", "theirs"))
    claim = Claim("here", "It is so.", "By regret.", ("yelp",), (ours,))
    judged = judge(claim, runs)
    assert [(each.folder, each.panel) for each in judged.evidence] == [
        ("yelp", "(a)"),
        ("yelp-mine", "(a)"),
    ]
    assert judged.verdict is Verdict.UNDECIDED
    assert judge(claim, runs[2:]).verdict is Verdict.UNMEASURED


def test_what_needs_no_results_is_always_known():
    claim = Claim("here", "1 + 1 = 2.", "", known=(Evidence("", "1 + 1", "2", Verdict.HOLDS),))
    assert judge(claim, []).verdict is Verdict.HOLDS


def test_every_claim_is_whole():
    for claim in CLAIMS:
        assert claim.where and claim.reading
        assert claim.quote[0].isupper() and claim.quote.endswith(".")
        assert bool(claim.compare) == bool(claim.figures)
    asked = {name for claim in CLAIMS for name in claim.figures}
    assert set(PAPER) <= asked


def test_without_results_almost_nothing_is_measured():
    known = [judge(claim, []).verdict for claim in CLAIMS if claim.known]
    assert all(verdict is not Verdict.UNMEASURED for verdict in known)
    rest = {judge(claim, []).verdict for claim in CLAIMS if not claim.known}
    assert rest == {Verdict.UNMEASURED}


def test_every_check_survives_results_that_say_nothing_about_it(tmp_path):
    """Other policies, other panels, one seed, no results at all: no evidence, and no error."""
    plans = [
        made.experiment([made.world("(a)")], ["MultipleLinUCB"], seeds=1),
        made.experiment([made.replay("(a)", "other")], ["CLUB"], seeds=1),
        made.experiment([made.world("(a)"), made.replay("(b)", "yelp")], seeds=2),
    ]
    for i, plan in enumerate(plans):
        for seeds in (1, 0):
            whole = made.run(tmp_path / f"x{i}", plan, lambda *key: {})
            run = made.without(whole, lambda rows, seeds=seeds: rows["seed"] >= seeds)
            for claim in CLAIMS:
                for comparison in claim.compare:
                    assert list(compare(run, comparison)) == []


def test_every_comparison_of_the_file_is_known_and_used():
    assert {each.kind for claim in CLAIMS for each in claim.compare} == set(KINDS)


@pytest.mark.parametrize(
    "entry",
    [
        {"figure": ["synthetic"]},
        {"compare": [{"kind": "better", "between": ["ours"], "betwixt": 1}]},
        {"known": [{"what": "1", "numbers": "1", "verdict": "hold"}]},
    ],
)
def test_a_slip_in_the_file_is_an_error(entry):
    whole = {"where": "here", "quote": "It is so.", "reading": "By regret."}
    _claim(whole)
    with pytest.raises((TypeError, ValueError)):
        _claim(whole | entry)
