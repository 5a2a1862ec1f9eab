"""How a cell runs: its environment and its policy are made, and a few numbers are kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from clubcascade.core import Environment, Policy
from clubcascade.environments import ENVIRONMENTS
from clubcascade.errors import ClubCascadeError, InvalidConfig
from clubcascade.experiment.bounds import BOUNDS, Bound
from clubcascade.experiment.ceiling import ceiling
from clubcascade.experiment.cells import Cell, Seeds
from clubcascade.experiment.parameters import accepted
from clubcascade.experiment.placeholders import environment_values, policy_values
from clubcascade.policies import policy_class
from clubcascade.simulation import Trace, simulate

WARMING_ROUNDS = 8

_LATEST: dict[str, Environment] = {}
"""The environment of the last cell of this process: it is often that of the next."""


def build_world(cell: Cell) -> Environment:
    """Make the environment of a cell; a wrong parameter is an InvalidConfig."""
    where = f"panel {cell.panel.title!r}"
    with _blamed(where):
        parameters = environment_values(cell.panel.parameters, cell.data)
    env: Environment = _make(
        where, ENVIRONMENTS[cell.panel.environment], parameters, {"seed": Seeds.of(cell.seed).world}
    )
    return env


def build_policy(cell: Cell, env: Environment) -> Policy | Bound:
    """Make the policy of a cell, or its bound; a wrong parameter is an InvalidConfig."""
    where = f"policy {cell.contender.label!r}"
    with _blamed(where):
        parameters = policy_values(cell.contender.parameters, env, cell.rounds)
    derived = {"seed": Seeds.of(cell.seed).policy, "n_features": env.n_features}
    name = cell.contender.policy
    kind: type = BOUNDS[name] if name in BOUNDS else policy_class(name)
    policy: Policy | Bound = _make(where, kind, parameters, derived)
    return policy


def build(cell: Cell) -> tuple[Policy | Bound, Environment]:
    """Make the policy and the environment of a cell; a wrong parameter is an InvalidConfig."""
    env = build_world(cell)
    return build_policy(cell, env), env


class Outcome(NamedTuple):
    """What a run gave: its curves, and the share of rounds in which the best lists get a click."""

    trace: Trace
    ceiling: float


def run(cell: Cell) -> Outcome:
    """Run a cell; it is recorded every ``every`` rounds, and at the last."""
    env = _world_of(cell)
    policy = build_policy(cell, env)
    if not isinstance(policy, Policy):
        return Outcome(_worked_out(policy, env, cell), ceiling(env, cell.k))
    trace = simulate(
        policy,
        env,
        rounds=cell.rounds,
        k=cell.k,
        seed=Seeds.of(cell.seed).luck,
        every=cell.every,
    )
    return Outcome(trace, ceiling(env, cell.k))


def _worked_out(bound: Bound, env: Any, cell: Cell) -> Trace:
    started = time.perf_counter()
    steps = np.arange(cell.every, cell.rounds, cell.every, dtype=np.int64)
    rounds = np.append(steps, cell.rounds)
    regret = bound.regret(env, cell.k, rounds)
    nothing = np.full(len(rounds), np.nan)
    seconds = time.perf_counter() - started
    return Trace(rounds, nothing, regret, np.zeros(len(rounds), np.int64), None, seconds)


def _world_of(cell: Cell) -> Environment:
    """Make the environment of a cell, or take that of the last: a run resets it."""
    if cell.world not in _LATEST:
        _LATEST.clear()
        _LATEST[cell.world] = build_world(cell)
    return _LATEST[cell.world]


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
            env = _world_of(cell)
            policy = build_policy(cell, env)
            if isinstance(policy, Policy) and played not in built:
                simulate(policy, env, rounds=WARMING_ROUNDS, k=cell.k, seed=0)
        except InvalidConfig:
            raise
        except Exception:
            continue  # the cell itself reports it, with its name
        finally:
            built |= {kind, played}


@contextmanager
def _blamed(where: str) -> Iterator[None]:
    """Say where a wrong value stands."""
    try:
        yield
    except InvalidConfig as error:
        raise InvalidConfig(f"{where}: {error}") from error


def _make(where: str, cls: type, parameters: dict[str, Any], derived: dict[str, Any]) -> Any:
    known = accepted(cls)
    extra = {name: value for name, value in derived.items() if name in known}
    try:
        return cls(**(extra | parameters))
    except (ClubCascadeError, TypeError, ValueError) as error:
        raise InvalidConfig(f"{where}: {error}") from error
