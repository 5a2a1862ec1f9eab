"""What the claims say about results: the verdict of the sentence that starts so."""

from __future__ import annotations

from clubcascade.report.claims import CLAIMS, Judged, judge
from clubcascade.report.folders import Run


def judged(start: str, *runs: Run) -> Judged:
    found = [claim for claim in CLAIMS if claim.quote.startswith(start)]
    assert found, start
    own = [claim for claim in found if any(run.figure in claim.figures for run in runs)]
    return judge((own or found)[0], runs)


def verdict(start: str, *runs: Run) -> str:
    return str(judged(start, *runs).verdict)
