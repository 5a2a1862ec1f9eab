from __future__ import annotations

import re

from clubcascade.report.claims import Claim, Evidence, Judged, Verdict, summary
from clubcascade.report.page import page
from clubcascade.report.selection import Comparison

SOME = (Comparison(kind="better", between=("ours", "theirs")),)


def claims_section(judged):
    text = page([], [], judged)
    return text[text.index('<section id="claims">') : text.index("</main>")]


def evidence(verdict, value=0.5, unit="ratio", caveat=""):
    return Evidence("(a)", "regret", "1 < 2", verdict, value, unit, caveat, folder="synthetic")


HOLDS = Judged(
    Claim("5.", "It <works>.", "By looking.", ("synthetic",), SOME),
    (evidence(Verdict.HOLDS, 0.25), evidence(Verdict.UNDECIDED), evidence(Verdict.FAILS, 1.25)),
)
UNKNOWN = Judged(Claim("5.", "Nobody knows.", "Not yet.", ("yelp", "ctr"), SOME), ())


def test_the_summary_counts_and_gives_the_range():
    assert (
        summary(HOLDS)
        == "1 of 3 comparisons holds, 1 speaks against, 1 undecided; ratio 0.25 to 1.25"
    )
    one = Judged(HOLDS.claim, (evidence(Verdict.HOLDS, 4.0, "clusters"),))
    assert summary(one) == "1 of 1 comparison holds; clusters 4"


def test_what_a_verdict_rests_on_is_said():
    vacuous = evidence(Verdict.HOLDS, caveat="vacuous bound")
    found = Judged(HOLDS.claim, (vacuous, evidence(Verdict.HOLDS)))
    assert summary(found) == "2 of 2 comparisons hold (vacuous bound: 1); ratio 0.5"
    text = claims_section([found])
    assert text.count("✓ holds<") == 3 and text.count("✓ holds (vacuous bound)<") == 1
    text = claims_section([Judged(HOLDS.claim, (vacuous, evidence(Verdict.FAILS)))])
    assert text.count("◐ partly (vacuous bound)<") == 2, "among the counts as well"


def test_sentence_verdict_evidence_and_how_to_get_it():
    text = claims_section([HOLDS, UNKNOWN])
    assert "<blockquote>It &lt;works&gt;.</blockquote>" in text
    assert "<td>1 &lt; 2</td>" in text and "<td>synthetic</td>" in text
    assert "clubcascade reproduce --figure yelp</code>" in text
    assert "clubcascade reproduce --figure ctr</code>" in text


def test_the_same_comparisons_are_shown_once():
    text = claims_section([HOLDS, UNKNOWN, HOLDS])
    assert text.count("<table") == 1
    assert 'the comparisons of <a href="#claim-1">sentence 1</a>' in text


def test_counts_by_verdict():
    text = re.search("<p class=.counts.*", claims_section([HOLDS, UNKNOWN, UNKNOWN]))[0]
    assert "1 ◐ partly" in text and "2 – not measured" in text and "holds" not in text
