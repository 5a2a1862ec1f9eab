"""The claims table: each sentence of the paper, what was measured, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from clubcascade.report.claims import VACUOUS, Claim, Judged, Verdict, summary
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.tables import scrolled

MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.PARTLY: "◐",
    Verdict.FAILS: "✗",
    Verdict.UNDECIDED: "?",
    Verdict.UNMEASURED: "–",
    Verdict.WITHHELD: "○",
}


def claims_section(judged: Sequence[Judged]) -> Markup:
    """Return the whole section: how it is judged, the counts, the sentences."""
    earlier: dict[object, int] = {}
    rows = []
    for number, each in enumerate(judged, start=1):
        key = (each.claim.figures, each.claim.compare)
        same = earlier.get(key) if each.claim.compare else None
        earlier.setdefault(key, number)
        rows.append(_row(number, each, same))
    return tag(
        "section",
        tag("h2", "The paper's claims"),
        tag(
            "p",
            "Every sentence of the paper that says what experiments show, word for word (formulas "
            "in plain letters). A comparison holds if the 95% interval of the difference, paired "
            "over seeds that share their worlds, lies on the claimed side of 0; it is undecided if "
            "the interval holds 0. A sentence holds if all of its comparisons do, and partly if "
            "some do. Sentences that only describe the set-up are left out.",
        ),
        verdict_counts(judged),
        tag("ol", rows, class_="claims"),
        id="claims",
    )


def verdict_counts(judged: Sequence[Judged]) -> Markup:
    """Return how many sentences got which verdict."""
    counts = Counter((each.verdict, each.vacuous) for each in judged)
    badges = [
        [badge(key[0], f"{counts[key]} ", vacuous=key[1]), " "]
        for key in product(Verdict, (False, True))
        if counts[key]
    ]
    return tag("p", badges, class_="counts")


def badge(verdict: Verdict, before: str = "", *, vacuous: bool = False) -> Markup:
    """Return a verdict as a coloured word with a mark."""
    kind = verdict.name.lower()
    after = f" ({VACUOUS})" if vacuous else ""
    return tag("span", f"{before}{MARKS[verdict]} {verdict}{after}", class_=f"badge {kind}")


def _row(number: int, judged: Judged, same: int | None) -> Markup:
    claim = judged.claim
    return tag(
        "li",
        tag(
            "div",
            badge(judged.verdict, vacuous=judged.vacuous),
            tag("span", claim.where, class_="where"),
        ),
        tag("blockquote", claim.quote),
        tag("p", claim.reading, class_="reading"),
        _evidence(judged, same),
        id=f"claim-{number}",
        value=number,
    )


def _evidence(judged: Judged, same: int | None) -> Markup | None:
    if not judged.evidence:
        return _how_to(judged.claim)
    if same is not None:
        link = tag("a", f"sentence {same}", href=f"#claim-{same}")
        return tag("p", f"{summary(judged)}: the comparisons of ", link, ".", class_="same")
    rows = [
        tag(
            "tr",
            tag("td", each.folder),
            tag("td", each.panel),
            tag("td", each.what),
            tag("td", each.numbers),
            tag("td", badge(each.verdict, vacuous=each.caveat == VACUOUS)),
        )
        for each in judged.evidence
    ]
    heads = ("results", "panel", "measured", "means and ratio with 95% interval", "")
    head = tag("tr", [tag("th", text) for text in heads])
    table = scrolled(tag("table", tag("thead", head), tag("tbody", rows), class_="evidence"))
    return tag("details", tag("summary", summary(judged)), table)


def _how_to(claim: Claim) -> Markup | None:
    if not claim.figures:
        return None
    commands = [
        [tag("code", f"clubcascade reproduce --figure {name}"), " "] for name in claim.figures
    ]
    return tag("p", "To measure it: ", commands, class_="same")
