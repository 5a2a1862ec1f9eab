"""Every policy of the package on one small world: all share the engine."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from benchmarks.engine.clock import MICRO, SEED, K, median_of
from benchmarks.engine.process import Answer, Job, Part
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import paper_world
from clubcascade.core import Policy
from clubcascade.environments.synthetic import Synthetic
from clubcascade.policies import POLICIES
from clubcascade.simulation import simulate


def build(name: str, env: Synthetic) -> Policy | None:
    """Return the policy of that name for a world, all users known; None if it needs more."""
    kind = POLICIES[name]
    given: dict[str, Any] = {
        "n_features": env.n_features,
        "users": range(env.n_users),
        "partition": env.partition,
        "seed": SEED,
        "rounds": 1_000,
    }
    inside = ("n_features", "users", "seed")
    given["policy"] = {"name": "club_cascade", **{name: given[name] for name in inside}}
    asked = inspect.signature(kind).parameters
    needed = {name for name, p in asked.items() if p.default is inspect.Parameter.empty}
    if not needed <= given.keys():
        return None
    return kind(**{name: value for name, value in given.items() if name in asked})


def measure(n_users: int, n_items: int, rounds: int, repeats: int) -> Answer:
    """Measure the compiled runs of all policies, at their default parameters."""
    env = paper_world(n_users, n_items, truth=True)
    return {"rows": [measure_one(name, env, rounds, repeats) for name in sorted(POLICIES)]}


def measure_one(name: str, env: Synthetic, rounds: int, repeats: int) -> Answer:
    """Measure one policy."""
    first = build(name, env)
    if first is None:
        return {"policy": name, "note": "needs more than a world"}
    simulate(first, env, rounds=20, k=K, seed=SEED)  # compiled
    traces = []

    def run() -> float:
        policy = build(name, env)
        assert policy is not None
        traces.append(simulate(policy, env, rounds, K, SEED))
        return traces[-1].seconds / rounds

    microseconds = MICRO * median_of(repeats, run)
    regret = traces[0].regret
    return {
        "policy": name,
        "rounds": rounds,
        "microseconds": microseconds,
        "regret": None if regret is None else float(regret[-1]),
    }


def jobs(quick: bool) -> list[Job]:
    """All policies in one process."""
    rounds, repeats = (5_000, 1) if quick else (100_000, 3)
    sizes = {"n_users": 40, "n_items": 200, "rounds": rounds, "repeats": repeats}
    return [Job("every policy", measure, sizes)]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Return the microseconds of every policy, fastest first."""
    rows = [row for answer in answers for row in answer["rows"]]
    measured = sorted(rows, key=lambda row: row.get("microseconds", 0.0))
    return ResultTable(
        "policies",
        "Every policy (simulate, u=40, L=200, K=4, d=20)",
        "`simulate` with a fixed catalogue, u=40, L=200, K=4, d=20, five orthogonal clusters, one "
        "core; default parameters. The regret is of one run and says only that they play the same "
        "game.",
        (
            Column("policy", "policy"),
            Column("microseconds", "µs a round", 3),
            Column("regret", "regret", 3),
            Column("rounds", "rounds"),
            Column("note", ""),
        ),
        tuple(measured),
    )


PART = Part("policies", jobs, table)
