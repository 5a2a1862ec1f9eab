"""How a cell runs: its environment and its policy are made, and a few numbers are kept."""

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from clubcascade.core import Environment, Policy
from clubcascade.environments import ENVIRONMENTS
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import ClubCascadeError, InvalidConfig
from clubcascade.experiment.bounds import BOUNDS, Bound
from clubcascade.experiment.cell_store import CURVES, SUMS, CellResult
from clubcascade.experiment.cells import Cell, Seeds
from clubcascade.experiment.parameters import accepted
from clubcascade.experiment.placeholders import environment_values, policy_values
from clubcascade.experiment.provenance import origin
from clubcascade.experiment.schema import Parameters
from clubcascade.policies import policy_class
from clubcascade.simulation import Trace, simulate

WARM_UP_ROUNDS = 8

_LATEST: dict[str, Environment] = {}
"""The environment of the last cell of this process: it is often that of the next."""


def build(cell: Cell) -> tuple[Policy | Bound, Environment]:
    """Make the policy and the environment of a cell; a wrong parameter is an InvalidConfig."""
    env = _build_environment(cell)
    return _build_policy(cell, env), env


def run(cell: Cell) -> CellResult:
    """Run a cell; it is recorded every ``every`` rounds, and at the last."""
    env = _environment_of(cell)
    policy = _build_policy(cell, env)
    if isinstance(policy, Policy):
        seed = Seeds.of(cell.seed).simulation
        trace = simulate(policy, env, rounds=cell.rounds, k=cell.k, seed=seed, every=cell.every)
    else:
        trace = _bound_trace(policy, env, cell)
    best = env.best_click_rate(cell.k) if isinstance(env, TabularEnvironment) else math.nan
    unknown = np.full(len(trace.round), np.nan)
    curves = {name: getattr(trace, name) for name in CURVES}
    known = {name: unknown if curve is None else curve for name, curve in curves.items()}
    sums = {name: getattr(trace, name) for name in SUMS if trace.visit_regret is not None}
    return CellResult(known, trace.seconds, best, origin(), sums)


def run_task(task: tuple[Cell, str]) -> CellResult:
    """Run a cell in a worker, whose sources must be those of the owner of the key."""
    cell, key = task
    if cell.hashed() != key:
        raise ClubCascadeError("this worker has another version of clubcascade than its owner")
    return run(cell)


def warm_up(cells: Iterable[Cell]) -> None:
    """Build every kind of run, and take a few rounds of it, so that all its code is on disk.

    What cannot be built is raised as InvalidConfig. What fails while it runs is left to the
    cell itself, which reports it.
    """
    built: set[str] = set()
    for cell in cells:
        played = json.dumps([cell.panel.parameters, cell.contender.policy], sort_keys=True)
        kind = played + json.dumps(cell.contender.parameters, sort_keys=True)
        if kind in built:
            continue
        try:
            env = _environment_of(cell)
            policy = _build_policy(cell, env)
            if isinstance(policy, Policy) and played not in built:
                simulate(policy, env, rounds=WARM_UP_ROUNDS, k=cell.k, seed=0)
        except InvalidConfig:
            raise
        except Exception:
            continue  # the cell itself reports it, with its name
        finally:
            built |= {kind, played}


def _build_environment(cell: Cell) -> Environment:
    with _located(f"panel {cell.panel.title!r}"):
        parameters = environment_values(cell.panel.parameters, cell.data)
        derived = {"seed": Seeds.of(cell.seed).environment}
        kind = ENVIRONMENTS[cell.panel.environment]
        return kind(**_with_derived(kind, parameters, derived))  # type: ignore[no-any-return]


def _build_policy(cell: Cell, env: Environment) -> Policy | Bound:
    with _located(f"policy {cell.contender.label!r}"):
        parameters = policy_values(cell.contender.parameters, env, cell.rounds)
        derived = {"seed": Seeds.of(cell.seed).policy, "n_features": env.n_features}
        kind: Any = BOUNDS.get(cell.contender.policy) or policy_class(cell.contender.policy)
        return kind(**_with_derived(kind, parameters, derived))  # type: ignore[no-any-return]


def _with_derived(cls: type, parameters: Parameters, derived: Parameters) -> Parameters:
    """Add the sizes and seeds that a constructor takes, also to those of a policy inside."""
    known = accepted(cls)
    values = {name: value for name, value in derived.items() if name in known} | parameters
    if isinstance(inner := values.get("policy"), Mapping):
        values["policy"] = _with_derived(policy_class(inner["name"]), dict(inner), derived)
    return values


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Say where a wrong value stands."""
    try:
        yield
    except (ClubCascadeError, TypeError, ValueError) as error:
        raise InvalidConfig(f"{where}: {error}") from error


def _environment_of(cell: Cell) -> Environment:
    """Make the environment of a cell, or take that of the last: a run resets it."""
    if cell.world not in _LATEST:
        _LATEST.clear()
        _LATEST[cell.world] = _build_environment(cell)
    return _LATEST[cell.world]


def _bound_trace(bound: Bound, env: Any, cell: Cell) -> Trace:
    started = time.perf_counter()
    steps = np.arange(cell.every, cell.rounds, cell.every, dtype=np.int64)
    rounds = np.append(steps, cell.rounds)
    regret = bound.regret(env, cell.k, rounds)
    nothing = np.full(len(rounds), np.nan)
    seconds = time.perf_counter() - started
    return Trace(rounds, nothing, regret, np.zeros(len(rounds), np.int64), None, seconds)
