"""How fast a round is: three ways to play, three sizes, against the literal Algorithm 1."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.engine.clock import MICRO, SEED, K, product_seconds
from benchmarks.engine.draws import points, stretches
from benchmarks.engine.process import Answer, Job, Part
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import paper_policy, paper_world
from clubcascade.core import Floats
from clubcascade.environments.synthetic import Synthetic
from clubcascade.simulation import simulate

FIXED = "simulate, fixed catalogue"
FRESH = "simulate, fresh items"
PYTHON = "Python recommend + update, Catalog"

SIZES = ((40, 200), (200, 1000), (900, 1000))
TARGETS = {
    FIXED: dict(zip(SIZES, (100, 65, 1000), strict=True)),
    FRESH: dict(zip(SIZES, (22, 12, 200), strict=True)),
    PYTHON: dict(zip(SIZES, (25, 30, 500), strict=True)),
}
"""Least ratio to the literal version."""
MOST_PRODUCTS = 3
"""Most ``X @ theta`` that a round with a fixed catalogue of 1000 items may take."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long is measured.

    ``rounds`` of each compiled run; ``literal`` and ``python`` rounds of each of three stretches
    of the literal version and of calls from Python; ``repeats`` of which the median counts.
    """

    rounds: int
    literal: int
    python: int
    repeats: int


def measure(n_users: int, n_items: int, **lengths: int) -> Answer:
    """Measure one size on all paths; ``lengths`` are those of :class:`Lengths`."""
    n = Lengths(**lengths)
    catalogue = paper_world(n_users, n_items, truth=True)
    fixed = compiled(FIXED, catalogue, n)
    fresh = compiled(FRESH, paper_world(n_users, n_items, fresh=True, truth=True), n)
    python = called(catalogue, n, fixed)
    return {"rows": [judged(row) for row in (fixed, fresh, python)]}


def compiled(path: str, env: Synthetic, n: Lengths) -> Answer:
    """Measure ``simulate`` and the literal version in one world."""
    fresh = paper_policy(env.n_users)
    simulate(fresh.fresh(), env, rounds=20, k=K, seed=SEED)  # compiled, if it was not
    traces = [simulate(fresh.fresh(), env, n.rounds, K, SEED) for _ in range(n.repeats)]
    seconds = statistics.median(trace.seconds for trace in traces) / n.rounds
    begins = points(n.rounds, max(n.literal, n.python))
    literal = stretches(fresh, env, begins, n.literal, literal=True)
    each = [MICRO * stretch.seconds / n.literal for stretch in literal]
    regret = traces[0].regret
    assert regret is not None
    return {
        "path": path,
        "n_users": env.n_users,
        "n_items": env.n_items,
        "rounds": n.rounds,
        "repeats": n.repeats,
        "microseconds": MICRO * seconds,
        "regret": lost(regret, later(begins), n.literal),
        "literal_rounds": len(begins) * n.literal,
        "literal": statistics.mean(each),
        "literal_start": each[0],
        "literal_end": each[-1],
        "literal_regret": float(np.mean([stretch.regret.mean() for stretch in later(literal)])),
        "product": MICRO * product_seconds(env.catalog._rows[: env.n_items]),
    }


def called(env: Synthetic, n: Lengths, fixed: Answer) -> Answer:
    """Measure single calls from Python with a catalogue; the literal version is known already."""
    fresh = paper_policy(env.n_users)
    begins = points(n.rounds, max(n.literal, n.python))
    repeats = min(3, n.repeats)
    runs = [stretches(fresh, env, begins, n.python, literal=False) for _ in range(repeats)]
    seconds = statistics.median(sum(stretch.seconds for stretch in run) for run in runs)
    rounds = len(begins) * n.python
    regret = float(np.mean([stretch.regret[: n.literal].mean() for stretch in later(runs[0])]))
    return {
        **fixed,
        "path": PYTHON,
        "rounds": rounds,
        "repeats": repeats,
        "microseconds": MICRO * seconds / rounds,
        "regret": regret,
    }


def later(stretches: Sequence[Any]) -> Sequence[Any]:
    """Leave out the first stretch: its lists are ties of many items, which rounding breaks."""
    return stretches[1:] or stretches


def lost(regret: Floats, begins: Sequence[int], length: int) -> float:
    """Return the mean regret a round over some stretches of a cumulative curve.

    >>> lost(np.array([1.0, 3.0, 3.0, 7.0]), (0, 2), 2)
    1.75
    """
    curve = np.concatenate([[0.0], regret])
    return float(np.mean([(curve[b + length] - curve[b]) / length for b in begins]))


def judged(row: Answer) -> Answer:
    """Add targets and whether they are met, where the size has any."""
    target = TARGETS[row["path"]].get((row["n_users"], row["n_items"]))
    row["ratio"] = row["literal"] / row["microseconds"]
    row["products"] = row["microseconds"] / row["product"]
    row["target"] = None if target is None else f"≥ {target:,}"
    row["met"] = None if target is None else _word(row["ratio"] >= target)
    limited = row["path"] == FIXED and row["n_items"] == 1000
    row["products_met"] = _word(row["products"] <= MOST_PRODUCTS) if limited else None
    return row


def _word(good: bool) -> str:
    return "met" if good else "not met"


def jobs(quick: bool) -> list[Job]:
    """One process per size."""
    short = {40: (300, 3000), 200: (60, 2000), 900: (12, 1500)}
    whole = {40: (2000, 10_000), 200: (600, 10_000), 900: (200, 10_000)}
    return [
        Job(
            f"u={n_users} L={n_items}",
            measure,
            {
                "n_users": n_users,
                "n_items": n_items,
                "rounds": 20_000 if quick else 50_000,
                "literal": (short if quick else whole)[n_users][0],
                "python": (short if quick else whole)[n_users][1],
                "repeats": 3 if quick else 7,
            },
        )
        for n_users, n_items in SIZES
    ]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Put the rows of all sizes into one table, path by path."""
    rows = [row for answer in answers for row in answer["rows"]]
    order = {FIXED: 0, FRESH: 1, PYTHON: 2}
    rows.sort(key=lambda row: order[row["path"]])
    return ResultTable(
        "speed",
        "Microseconds of a round (K=4, d=20, complete start, one core)",
        "One core, K=4, d=20, five orthogonal clusters, alpha 2, beta 1, reg 4, all users known, "
        "complete start. Median of repeated runs over the stated rounds, compile excluded. The "
        "literal version plays the same draws over fewer rounds: three stretches at the start, in "
        "the middle and at the end of our run, from its state there, because its cost falls while "
        "edges go (columns *start* and *end*); its ratio is to their mean. Its environment is "
        "outside the clock; ours is inside, except in the Python rows. *Regret* is the mean a "
        "round over the later two stretches, ours and the literal version's. They agree but for "
        "ties that rounding breaks (at the start of a run all items tie, so it is left out).",
        (
            Column("path", "path"),
            Column("n_users", "u"),
            Column("n_items", "L"),
            Column("microseconds", "µs", 3),
            Column("ratio", "ratio", 3),
            Column("target", "target"),
            Column("met", ""),
            Column("products", "in `X @ theta`", 2),
            Column("products_met", "≤ 3"),
            Column("product", "`X @ theta` µs", 3),
            Column("literal", "literal µs", 3),
            Column("literal_start", "start", 3),
            Column("literal_end", "end", 3),
            Column("regret", "regret", 3),
            Column("literal_regret", "literal's", 3),
            Column("rounds", "rounds"),
            Column("literal_rounds", "literal's"),
        ),
        tuple(rows),
    )


PART = Part("speed", jobs, table)
