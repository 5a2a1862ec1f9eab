"""One policy against the best of the others, panel by panel, and tables of it as Markdown."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.schema import Panel
from clubcascade.model_file import atomic_write
from clubcascade.report.estimates import (
    UNKNOWN,
    Estimate,
    estimate,
    number,
    share,
    with_ends,
    with_half,
)
from clubcascade.report.folders import EDGE, KNOWN, POLICY, Run, find_runs, first_look_words
from clubcascade.report.markdown import escaped, table
from clubcascade.report.measures import shown_measure

LOST = {"regret": "regret", "missed": "clicks missed"}
"""What can be compared: less is better, and none is lost by the best lists."""

CLOSE = 1.05
"""A policy is close to another one if it lost at most so many times as much; else it is bold."""

LISTS = (5, 20, 100, math.inf)
"""After so many lists a user, and at the end."""

HEADS = "panel,lost,best other,it lost,ratio [95%],known clusters lost,ratio to it,ARI".split(",")


@dataclass(frozen=True, slots=True)
class Contest:
    """What a policy lost in a panel, relative to another one: paired by seed.

    ``ours`` and ``theirs`` are what the two lost: regret, or clicks missed; ``ratio`` is ``ours /
    theirs``. ``other`` is the policy of the least mean among those asked for, found on the very
    runs that are compared, which favours it.
    """

    panel: Panel
    label: str
    other: str
    seeds: int
    ours: Estimate
    theirs: Estimate
    ratio: Estimate

    def words(self, most: float | None = None, *, other: bool = False) -> str:
        """The ratio, bold unless it is at most ``most``, and to whom."""
        text = f"{with_ends(self.ratio, 'ratio')}{f' {self.other}' * other}"
        return text if most is None or self.ratio.value <= most else f"**{text}**"


def contest(
    run: Run, panel: Panel, lost: pd.DataFrame, *, among: Sequence[str] = (), policy: str = POLICY
) -> Contest | None:
    """Compare a policy with the best of others in a panel; None where they did not meet.

    ``lost`` is what the policies lost, seeds x labels; of several labels of ``policy``, who is
    judged, the first counts. The other is the first label of ``among`` that plays; without these,
    the best of all rivals.
    """
    there = [c for c in run.results.experiment.policies_of(panel) if c.label in lost]
    mine = [c.label for c in there if c.policy == policy][:1]
    rivals = [c.label for c in there if c.policy not in (policy, *KNOWN, *BOUNDS)]
    others = [label for label in among if label in lost][:1] if among else rivals
    if not mine or not others:
        return None
    both = lost[[*mine, *others]].dropna()
    if both.empty:
        return None
    best = str(both[others].mean().idxmin())
    ours, theirs = (both[label].to_numpy(np.float64) for label in (mine[0], best))
    means = estimate(ours), estimate(theirs)
    return Contest(panel, mine[0], best, len(both), *means, share(ours, theirs))


def lost_at_end(run: Run, panel: Panel) -> pd.DataFrame:
    """Return what the policies of a panel lost, seeds x labels; empty where that is not shown."""
    measure = shown_measure(run.results)
    there = run.by_seed(measure).items() if measure in LOST else ()
    return pd.DataFrame({key[1]: t.iloc[:, -1] for key, t in there if key[0] == panel.title})


def lost_in_lists(run: Run, panel: Panel, lists: float, phase: int | None = None) -> pd.DataFrame:
    """Return the regret of each user's first ``lists`` lists in a panel: seeds x labels.

    ``phase`` is the phase of the world that counts; None: all.
    """
    rows = run.results.visits
    rows = rows[(rows["panel"] == panel.title) & (rows["lists"] == lists)]
    rows = rows if phase is None else rows[rows["phase"] == phase]
    return rows.pivot_table(index="seed", columns="policy", values="regret", aggfunc="sum")


def users_have(run: Run, panel: Panel, lists: float) -> bool:
    """Whether the users of a panel have so many lists, on average; all have those of infinity."""
    users = panel.parameters.get("n_users")
    rounds = run.results.experiment.rounds_of(panel)
    return math.isinf(lists) or bool(users and rounds >= lists * users)


def after(run: Run, lists: float, policy: str = POLICY) -> Iterator[Contest]:
    """Yield the contests of a folder after so many lists a user, where users have so many."""
    for panel in run.results.experiment.panels:
        if users_have(run, panel, lists):
            found = contest(run, panel, lost_in_lists(run, panel, lists), policy=policy)
            if found is not None:
                yield found


def write_contests(
    folder: str | os.PathLike[str], out: str | os.PathLike[str], policy: str = POLICY
) -> Path:
    """Write how a policy did against the best of the others, as Markdown.

    Folders where the policy met nobody are left out.
    """
    runs, _ = find_runs(folder)
    sections = {run.name: lines for run in runs if (lines := list(contest_lines(run, policy)))}
    if not sections:
        raise InvalidArgument(
            f"policy must have met others where regret or missed clicks are shown, "
            f"got {policy!r} in {folder}"
        )
    quick = first_look_words([run for run in runs if run.name in sections])
    lines = [line for section in sections.values() for line in section]
    lines += [f"**A first look**{quick}", ""] if quick else []
    with atomic_write(Path(out)) as file:
        file.write("\n".join([*lines, ""]).encode())
    return Path(out)


def contest_lines(run: Run, policy: str = POLICY) -> Iterator[str]:
    """Yield the heading, the tables and the notes of one result folder; nothing without rivals.

    Ratios above ``CLOSE`` are bold, unless the run is a first look.
    """
    most = None if run.first_look else CLOSE
    experiment = run.results.experiment
    rows, seeds, edges = [], set(), []
    for panel in experiment.panels:
        there = experiment.policies_of(panel)
        lost = lost_at_end(run, panel)
        lost = lost[[c.label for c in there if c.label in lost and c.policy not in BOUNDS]].dropna()
        best = contest(run, panel, lost, policy=policy)
        if best is None:
            continue
        told = [c.label for c in there if c.policy in KNOWN]
        known = contest(run, panel, lost, among=told, policy=policy) if told else None
        index = run.by_seed("rand_index").get((panel.title, best.label))
        edge = run.edges.get((panel.title, best.other))
        edges += [f"{panel.title}, {best.other}: {edge}"] if edge else []
        seeds.add(best.seeds)
        rows.append(
            [
                panel.title,
                with_half(best.ours),
                f"{best.other}{EDGE if edge else ''}",
                with_half(best.theirs),
                best.words(most),
                with_half(known.theirs) if known else UNKNOWN,
                known.words() if known else UNKNOWN,
                UNKNOWN if index is None else number(index.iloc[:, -1].mean(), "rand_index"),
            ]
        )
    if not rows:
        return
    yield from [f"### {escaped(run.heading)} (`{run.name}`)", ""]
    counts = " to ".join(str(n) for n in dict.fromkeys([min(seeds), max(seeds)]))
    lost_words = LOST[shown_measure(run.results)]
    yield from [f"Lost: {lost_words}. Seeds: {counts}. ± and brackets: 95% intervals.", ""]
    yield from [*table(HEADS, rows, left=(0, 2)), ""]
    by_lists = [{each.panel.title: each for each in after(run, n, policy)} for n in LISTS]
    if by_lists[-1]:
        heads = ["panel", *(f"{n:g} lists a user" for n in LISTS[:-1]), "end"]
        words = (
            [title, *(ratio_words(found.get(title), most) for found in by_lists)]
            for title in by_lists[-1]
        )
        yield from [*table(heads, words), ""]
    if edges:
        tuned = "tuned, and the best value is at the edge of what was tried"
        yield from [f"{EDGE.strip()} {tuned}: {escaped('; '.join(edges))}.", ""]
    if run.missing:
        yield from [f"**{len(run.missing)} runs have no results.**", ""]


def ratio_words(found: Contest | None, most: float | None) -> str:
    """The ratio and to whom, bold unless it is at most ``most``; a dash where they did not meet."""
    return found.words(most, other=True) if found else UNKNOWN
