"""The paper's claims, sentence by sentence, and what the results say about them."""

from __future__ import annotations

from clubcascade.report.claims.claim import Claim, Evidence, Judged, judge
from clubcascade.report.claims.ctr import CTR
from clubcascade.report.claims.discussion import ACCELERATION, DISCUSSION
from clubcascade.report.claims.general import ABSTRACT, CONCLUSIONS, EXPERIMENTS, INTRODUCTION
from clubcascade.report.claims.multiple import MULTIPLE
from clubcascade.report.claims.real import REAL
from clubcascade.report.claims.synthetic import SYNTHETIC
from clubcascade.report.claims.theorem import ORDER, THEOREM
from clubcascade.report.claims.verdicts import Verdict

__all__ = ["CLAIMS", "Claim", "Evidence", "Judged", "Verdict", "judge"]

CLAIMS: tuple[Claim, ...] = (
    *ORDER,
    *ABSTRACT,
    *INTRODUCTION,
    *THEOREM,
    *DISCUSSION,
    *EXPERIMENTS,
    *ACCELERATION,
    *SYNTHETIC,
    *REAL,
    *CTR,
    *MULTIPLE,
    *CONCLUSIONS,
)
"""Every sentence of the paper that claims something about what experiments show."""
