"""Result folders of all kinds, and what the claims say about them, as plain text.

``recorded_verdicts.txt`` holds that text as the code of version 0.1.0 wrote it. Write it anew only
if verdicts are meant to change: ``python -m tests.report.recorded``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clubcascade.experiment import Experiment
from clubcascade.report.claims import CLAIMS, judge
from clubcascade.report.folders import Run
from tests.experiment import tiny
from tests.report import made

RECORD = Path(__file__).with_name("recorded_verdicts.txt")
CONSTANTS = {"alpha": {"theorem": 2}, "beta": {"theorem": 2}}
BOUND: dict[str, Any] = {
    "rounds": 100,
    "seeds": 3,
    "policies": [
        tiny.policy("club_cascade", "theirs", users="all", **CONSTANTS),
        tiny.policy("club_cascade", "ours", users="all", alpha=2.0),
        tiny.policy("theorem_bound", "Theorem 2"),
        tiny.policy("theorem_bound", "learning only", part="learning"),
    ],
}
QUICK = {"full": {"rounds": 100, "seeds": 99}}
WORLDS = [
    made.world(f"{name} {m}", gap=gap, n_clusters=m)
    for name, gap in (("far", "orthogonal"), ("near", 0.2))
    for m in (2, 5)
]
REPLAYS = [
    made.replay(f"{name}, u={n}", name.lower(), n_users=n)
    for name in ("Yelp", "MovieLens")
    for n in (40, 900)
]
UNEVEN = {"arrivals": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]}
STARTS = ["complete", "C3", "CLUB", "LinUCB", "MultipleLinUCB", "random"]


def plans(seeds: int, **more: Any) -> dict[str, Experiment]:
    """An experiment for every figure that a claim asks about."""

    def plan(panels: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Experiment:
        return made.experiment(panels, labels, seeds=seeds, **more)

    fresh = [made.world("fixed", items="fixed"), made.world("fresh", items="fresh", n_clusters=3)]
    activity = [
        made.world(f"{name} {gap}", gap=gap, **more)
        for gap in (0.5, "orthogonal")
        for name, more in (("even", {}), ("uneven", UNEVEN))
    ]
    return {
        "synthetic": plan(WORLDS, STARTS),
        "yelp": plan(REPLAYS[:2], ["CLUB", "C3", "LinUCB"]),
        "movielens-mine": plan(REPLAYS[2:], ["CLUB", "C3"]),
        "ctr": plan(REPLAYS[::2], STARTS),
        "multiple": plan(REPLAYS, ["CLUB", "MultipleLinUCB"]),
        "recovery": plan(WORLDS[:2], STARTS[:3]),
        "fresh": plan(fresh, STARTS[:3]),
        "activity": plan(activity, ["CLUB", "C3"]),
        "start": plan(WORLDS[:1], ["CLUB", "complete"]),
        "bound": tiny.experiment(**BOUND, **more),
    }


def drawn(world: int, spread: float) -> made.Values:
    """Curves with random rates and shapes, by panel and policy; ``spread`` is that of the seeds."""

    def values(panel: str, label: str, seed: int, t: int) -> dict[str, float]:
        own = np.random.default_rng([world, *panel.encode(), 0, *label.encode()])
        scale, power, share, rise, split, index, speed = own.uniform(size=7)
        noise = 1 + spread * (made.noise(seed, label) - 1)
        if label == "Theorem 2":
            return {"regret": 40.0 + 200.0 * scale}
        if label == "learning only":
            return {"regret": 1.0}
        rate = (0.2 + 0.4 * share + 0.3 * (rise - 0.3) * t / 100) * noise
        found = t * noise >= 150 * split
        clusters = 2 + int(4 * index) if found else 1
        return {
            "regret": (1 + scale) * t ** (0.4 + 0.7 * power) * noise,
            "reward": rate * t,
            "n_clusters": float(clusters),
            "rand_index": min(1.0, (0.6 + 0.6 * index) * noise) if found else 0.0,
            "ceiling": 0.7 + 0.2 * (len(panel) % 3) / 2,
            "seconds": (1 + speed) * noise,
        }

    return values


def flat(panel: str, label: str, seed: int, t: int) -> dict[str, float]:
    """All are equal; CLUB-cascade loses nothing near, and never has two clusters."""
    lost = 0.0 if label == "CLUB" and panel.startswith("near") else float(t)
    return {"regret": lost, "reward": t / 2, "n_clusters": 1.0, "rand_index": 0.9}


def runs(seeds: int, values: made.Values, **more: Any) -> list[Run]:
    return [made.run(Path(name), plan, values) for name, plan in plans(seeds, **more).items()]


def scenarios() -> Iterator[tuple[str, list[Run]]]:
    for world in (1, 2):
        yield f"random {world}", runs(5, drawn(world, 1.0))
    yield "noisy", runs(3, drawn(4, 8.0))
    yield "one seed", runs(1, drawn(5, 1.0))
    yield "equal", runs(3, flat)
    whole = runs(4, drawn(6, 1.0))
    yield (
        "holes",
        [
            made.without(run, lambda r: (r["seed"] + r["policy"].str.len()) % 3 == 1)
            for run in whole
        ],
    )
    quick = runs(4, drawn(7, 1.0), **QUICK)
    yield "first look", quick
    yield "partly a first look", [*quick, *runs(4, drawn(8, 1.0))[:2]]


def lines(name: str, found: Sequence[Run]) -> Iterator[str]:
    """The verdict on every sentence, with its comparisons; those shown before are left out."""
    yield f"# {name}"
    shown: dict[tuple[str, ...], int] = {}
    for number, claim in enumerate(CLAIMS, start=1):
        judged = judge(claim, found)
        vacuous = ", vacuous" if judged.vacuous else ""
        each = sorted(
            f"  {e.folder} | {e.panel} | {e.what} | {e.numbers} | {e.verdict} | "
            f"{'nan' if math.isnan(e.value) else f'{e.value:.6g}'} {e.unit} | {e.caveat}".rstrip()
            for e in judged.evidence
        )
        same = f" (as {shown[key]})" if each and (key := tuple(each)) in shown else ""
        yield f"{number}. {claim.quote[:40]}: {judged.verdict}{vacuous}{same}"
        yield from () if same else each
        shown.setdefault(tuple(each), number)


def text() -> str:
    return "\n".join(line for name, found in scenarios() for line in lines(name, found)) + "\n"


if __name__ == "__main__":
    RECORD.write_text(text(), encoding="utf-8")
