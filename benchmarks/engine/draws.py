"""Two learners on the same draws, with the environment's own work outside the clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from benchmarks.engine.clock import SEED, K
from benchmarks.engine.literal import LiteralClub
from clubcascade.core import Catalog, Floats, Ints
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.simulation import simulate


class Learner(Protocol):
    """Who ranks and learns; a policy, or the literal version."""

    def recommend(self, user: Any, items: Any, k: int) -> Ints:
        """Return the rows to show."""

    def update(self, user: Any, shown: Any, click: Any) -> None:
        """Learn from a click."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some rounds of a run: seconds of ``recommend`` and ``update``, and the regret of each."""

    seconds: float
    regret: Floats


def drive(
    learner: Learner, env: TabularEnvironment, first: int, rounds: int, *, loose: bool
) -> Stretch:
    """Let a learner play rounds ``first``, ``first + 1``, ... of an environment, from Python.

    Parameters
    ----------
    learner, env
        Who plays, and where; the environment is reset.
    first, rounds
        Which rounds.
    loose
        Whether a catalogue is handed over as a plain matrix of features.
    """
    clock = time.perf_counter
    env.reset(SEED)
    env.round = first - 1
    seconds = 0.0
    regret = np.empty(rounds)
    for t in range(rounds):
        user, offered = env.next_user()
        items: Any = offered.features if loose and isinstance(offered, Catalog) else offered
        started = clock()
        ranking = learner.recommend(user, items, K)
        seconds += clock() - started
        clicks = env.respond(user, ranking).clicks
        click = clicks[0] if clicks else None
        started = clock()
        learner.update(user, items[ranking], click)
        seconds += clock() - started
        regret[t] = env.regret(user, ranking)
    return Stretch(seconds, regret)


def points(rounds: int, length: int) -> tuple[int, ...]:
    """Return where stretches of a run begin: at its start, in its middle, at its end.

    >>> points(20_000, 1_000)
    (0, 9500, 19000)
    """
    return tuple(sorted({0, (rounds - length) // 2, rounds - length}))


def after(fresh: ClubCascade, env: TabularEnvironment, rounds: int) -> ClubCascade:
    """Return a new policy like ``fresh`` that has played the first rounds of a run."""
    policy = fresh.fresh()
    if rounds:
        simulate(policy, env, rounds, K, SEED, every=rounds)
    return policy


def literal_of(policy: ClubCascade) -> LiteralClub:
    """Return the literal version in the state of a policy with users 0, 1, ..."""
    users = policy.users
    d = policy.n_features
    literal = LiteralClub(len(users), d, policy.alpha, policy.beta, policy.reg)
    literal.edges[:] = False
    for i, other in policy.graph.edges():
        literal.edges[i, other] = literal.edges[other, i] = True  # type: ignore[index]
    for user in range(len(users)):
        literal.gram[user], literal.moment[user], literal.count[user] = policy.statistics(user)
        literal.weights[user] = np.linalg.solve(
            literal.ridge + literal.gram[user], literal.moment[user]
        )
    return literal


def stretches(
    fresh: ClubCascade,
    env: TabularEnvironment,
    begins: Sequence[int],
    length: int,
    *,
    literal: bool,
) -> list[Stretch]:
    """Play stretches of one run from Python, each from the state of the compiled run there."""
    drive(after(fresh, env, 0), env, 0, 3, loose=False)  # compiled, if it was not
    played = []
    for begin in begins:
        policy = after(fresh, env, begin)
        learner: Learner = literal_of(policy) if literal else policy
        played.append(drive(learner, env, begin, length, loose=literal))
    return played
