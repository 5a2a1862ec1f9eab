"""Every policy on every panel: what it lost over what the best policy of the panel lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from benchmarks.evaluation.goals import changes
from clubcascade.core import Floats
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.intervals import LEVEL
from clubcascade.experiment.schema import Panel
from clubcascade.report.contest import CLOSE, lost_at_end, lost_in_lists, users_have
from clubcascade.report.estimates import Estimate
from clubcascade.report.folders import KNOWN, POLICY, Run
from clubcascade.report.measures import MICROSECONDS

RESAMPLES = 2000
"""How often the seeds are resampled for the interval of a median."""

GROUPS = ("synthetic worlds", "replayed ratings", "newcomers", "change")
"""The kinds of panels, in the order of the map."""


@dataclass(frozen=True, eq=False)
class PanelRatios:
    """The policies of one panel against the best of them.

    ``lost`` is what they lost, seeds x labels; ``policies`` are their names by label.
    """

    run: Run
    panel: Panel
    lost: pd.DataFrame
    policies: dict[str, str]

    @cached_property
    def ratios(self) -> dict[str, float]:
        """By label, what the policy lost over what the best one lost."""
        found = self._ratios(self.lost.to_numpy(np.float64).mean(axis=0))
        return dict(zip(self.lost.columns, found.tolist(), strict=True))

    @cached_property
    def resampled(self) -> pd.DataFrame:
        """The ratios of resampled seeds, the same ones in all panels of as many: draws x labels."""
        n = len(self.lost)
        draws = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
        means = draws @ self.lost.to_numpy(np.float64) / n
        return pd.DataFrame(self._ratios(means), columns=self.lost.columns)

    @property
    def group(self) -> str:
        """What kind of panel it is."""
        if changes(self.panel, "users"):
            return GROUPS[2]
        if self.panel.parameters.get("changes"):
            return GROUPS[3]
        return GROUPS[0] if self.panel.environment == "synthetic" else GROUPS[1]

    def _ratios(self, means: Floats) -> Floats:
        lost = np.maximum(means, 0.0)
        rivals = [self.policies[label] not in KNOWN for label in self.lost.columns]
        best = lost[..., rivals].min(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(lost == best, 1.0, lost / best)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a policy did over the panels that it plays in: the shares of an oracle are NaN."""

    label: str
    panels: int
    median: Estimate
    best: float
    close: float
    worst: float
    where: str
    microseconds: float


def panel_ratios(runs: Sequence[Run], lists: float = math.inf) -> list[PanelRatios]:
    """Return the panels in which two policies or more met, by group.

    Parameters
    ----------
    runs
        The result folders.
    lists
        Up to which of a user's lists; infinity: all. Panels whose users have fewer are left out.
    """
    found = []
    for run in runs:
        for panel in run.results.experiment.panels:
            kinds = {c.label: c.policy for c in run.results.experiment.policies_of(panel)}
            table = _lost(run, panel, lists) if users_have(run, panel, lists) else pd.DataFrame()
            there = [x for x, policy in kinds.items() if policy not in BOUNDS and x in table]
            table = table[there].dropna()
            if len(table) and sum(kinds[label] not in KNOWN for label in there) > 1:
                found.append(PanelRatios(run, panel, table, kinds))
    return sorted(found, key=lambda each: GROUPS.index(each.group))


def _lost(run: Run, panel: Panel, lists: float) -> pd.DataFrame:
    """Return what the policies lost: seeds x labels."""
    if not run.results.visits.empty:
        return lost_in_lists(run, panel, lists, 1 if changes(panel, "users") else None)
    return lost_at_end(run, panel) if math.isinf(lists) else pd.DataFrame()


def standings(found: Sequence[PanelRatios], policy: str = POLICY) -> list[Standing]:
    """Return how the policies did: that of a name first, the others by median, oracles last."""
    kinds = {label: each.policies[label] for each in found for label in each.ratios}
    every = [_standing(label, kind, found) for label, kind in kinds.items()]
    return sorted(
        every,
        key=lambda s: (kinds[s.label] in KNOWN, kinds[s.label] != policy, s.median.value),
    )


def _standing(label: str, kind: str, found: Sequence[PanelRatios]) -> Standing:
    there = [each for each in found if label in each.ratios]
    ratios = np.array([each.ratios[label] for each in there])
    ends = [math.nan, math.nan]
    if all(len(each.lost) > 1 for each in there):
        medians = np.median([each.resampled[label] for each in there], axis=0)
        tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        ends = np.quantile(medians, tails, method="inverted_cdf").tolist()
    at = int(ratios.argmax())
    times = [each.run.by_seed(MICROSECONDS).get((each.panel.title, label)) for each in there]
    known = [float(time.iloc[:, -1].mean()) for time in times if time is not None]
    oracle = kind in KNOWN
    return Standing(
        label=label,
        panels=len(there),
        median=Estimate(float(np.median(ratios)), *ends),
        best=math.nan if oracle else float(np.mean(ratios == 1.0)),
        close=math.nan if oracle else float(np.mean(ratios <= CLOSE)),
        worst=float(ratios[at]),
        where=there[at].panel.title,
        microseconds=float(np.median(known)) if known else math.nan,
    )
