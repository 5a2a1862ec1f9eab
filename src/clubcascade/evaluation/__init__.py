"""Is it better? Online by user, interleaved as a screen, off-policy where the log supports it."""

from __future__ import annotations

from clubcascade.evaluation.ab_test import ABTest, Verdict
from clubcascade.evaluation.assignment import assign
from clubcascade.evaluation.interleaving import InterleavingScreen, exclusive_credit, team_draft
from clubcascade.evaluation.log import Log
from clubcascade.evaluation.offline import Evaluation, evaluate, replay

__all__ = [
    "ABTest",
    "Evaluation",
    "InterleavingScreen",
    "Log",
    "Verdict",
    "assign",
    "evaluate",
    "exclusive_credit",
    "replay",
    "team_draft",
]
