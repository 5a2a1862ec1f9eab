"""One policy against the best of the others, panel by panel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clubcascade.core import Floats
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.folders import Run
from clubcascade.report.paired import Estimate, estimate, ratio
from clubcascade.report.shown import shown_measure

POLICY = "cohort_cascade"
"""The policy that is judged unless another is named."""

TOLD = ("known_clusters", "known_clusters_glm")
"""Policies that are told the true clusters: a yardstick, not a rival."""

LOST = ("regret", "missed")
"""What can be compared: less is better, and none is lost by the best lists."""


@dataclass(frozen=True, slots=True)
class Contest:
    """How a policy did in a panel.

    Parameters
    ----------
    panel
        Where.
    rounds, seeds
        Length and number of the runs.
    ours
        What the policy lost: regret, or clicks missed.
    best, theirs
        The other policy that lost least on average, and what it lost. It is found on the very runs
        that are compared, which favours it.
    ratio
        ``ours / theirs``, paired by seed.
    told, told_ratio
        The same for the policy that knows the clusters; None where none played.
    edge
        Which tuned values of the best other policy lie at the edge of what was tried.
    rand_index
        How well the clusters agree with the true ones at the end; None where it is unknown.
    """

    panel: Panel
    rounds: int
    seeds: int
    ours: Estimate
    best: str
    theirs: Estimate
    ratio: Estimate
    told: Estimate | None
    told_ratio: Estimate | None
    rand_index: float | None
    edge: str = ""


def contests(run: Run, policy: str = POLICY) -> Iterator[Contest]:
    """Yield the contests of a result folder; panels without the policy or others are left out.

    Parameters
    ----------
    run
        A result folder.
    policy
        Name of the policy that is judged; its first label counts.
    """
    measure = shown_measure(run.results)
    if measure not in LOST:
        return
    tables = run.by_seed(measure)
    for panel in run.results.experiment.panels:
        here = {
            contender.label: (contender, _ends(tables[panel.title, contender.label]))
            for contender in run.results.experiment.policies_of(panel)
            if (panel.title, contender.label) in tables
        }
        mine = next((label for label, (c, _) in here.items() if c.policy == policy), None)
        rivals = [label for label, (c, _) in here.items() if _is_rival(c, policy)]
        if mine is None or not rivals:
            continue
        told = [label for label, (c, _) in here.items() if c.policy in TOLD]
        labels = [mine, *rivals, *told[:1]]
        ends = pd.concat([here[label][1] for label in labels], axis=1, join="inner", keys=labels)
        if ends.empty:
            continue
        best = str(ends[rivals].mean().idxmin())
        ours, theirs = (ends[label].to_numpy(np.float64) for label in (mine, best))
        known = ends[told[0]].to_numpy(np.float64) if told else None
        yield Contest(
            panel=panel,
            rounds=int(tables[panel.title, mine].columns[-1]),
            seeds=len(ends),
            ours=estimate(ours),
            best=best,
            theirs=estimate(theirs),
            ratio=_share(ours, theirs),
            told=None if known is None else estimate(known),
            told_ratio=None if known is None else _share(ours, known),
            rand_index=_rand_index(run, panel, mine),
            edge=run.edges.get((panel.title, best), ""),
        )


def _is_rival(contender: Contender, policy: str) -> bool:
    return contender.policy not in (policy, *TOLD, *BOUNDS)


def _ends(table: pd.DataFrame) -> pd.Series:
    return table.iloc[:, -1]


def _rand_index(run: Run, panel: Panel, label: str) -> float | None:
    found = run.by_seed("rand_index").get((panel.title, label))
    return None if found is None else float(_ends(found).mean())


def _share(ours: Floats, theirs: Floats) -> Estimate:
    """Return the ratio of what was lost; nobody loses less than nothing."""
    found = ratio(ours, theirs)
    if not math.isfinite(found.low):
        return found
    return Estimate(found.value, max(found.low, 0.0), found.high)
