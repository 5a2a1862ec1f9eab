"""How the measurements read the clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clubcascade.core import Environment, Floats, Policy
from clubcascade.simulation import simulate

MICRO = 1e6
SEED = 7
"""Seed of every run: all paths meet the same users and the same luck."""
K = 4
"""Length of every list."""


def median_of(runs: int, measure: Callable[[], float]) -> float:
    """Return the median of repeated measurements.

    >>> numbers = iter([3.0, 1.0, 2.0])
    >>> median_of(3, lambda: next(numbers))
    2.0
    """
    return statistics.median(measure() for _ in range(runs))


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def product_seconds(features: Floats, runs: int = 9, least: float = 0.02) -> float:
    """Return the seconds of one bare ``X @ theta``, the median of loops of ``least`` seconds."""
    weights = np.linspace(-1.0, 1.0, features.shape[1])

    def loop(times: int) -> float:
        started = time.perf_counter()
        for _ in range(times):
            features @ weights
        return time.perf_counter() - started

    times = 1
    while loop(times) < least:
        times *= 2
    return median_of(runs, lambda: loop(times)) / times


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of a round: over a run but its first hundredth, and over its last fifth."""

    whole: float
    late: float


def pace(
    policy: Policy, env: Environment, rounds: int, watch: Callable[[int], None] | None = None
) -> Pace:
    """Let a policy play and return the seconds per round.

    What a run does once, before its first round, is left out with the first hundredth.

    Parameters
    ----------
    policy, env, rounds
        Who plays, where, and how long.
    watch
        Called about a hundred times with the number of rounds done; its time is not counted.
    """
    marks: list[tuple[int, float]] = []
    watched = 0.0

    def mark(done: int) -> None:
        nonlocal watched
        now = time.perf_counter()
        marks.append((done, now - watched))
        if watch is not None:
            watch(done)
            watched += time.perf_counter() - now

    simulate(policy, env, rounds, K, SEED, every=max(1, rounds // 100), progress=mark)

    def between(first: int) -> float:
        (begin, begun), (end, ended) = marks[first], marks[-1]
        return (ended - begun) / max(1, end - begin)

    return Pace(between(0), between(min(len(marks) * 4 // 5, len(marks) - 2)))
