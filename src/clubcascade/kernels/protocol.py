"""The kernel protocol: what every compiled policy state implements, by its type.

The loop of a simulation and the library's calls (``entry_points``) go through these four functions,
so each algorithm exists once.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels.jit import entry_point


@entry_point
def rank_catalog(state: Any, node: int, catalog: Any, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` with the best rows of a catalogue for ``node``, best first."""
    raise NotImplementedError


@entry_point
def rank_items(
    state: Any, node: int, features: Floats, offered: Ints, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` with the best places among the ``offered`` rows of ``features``."""
    raise NotImplementedError


@entry_point
def learn(
    state: Any, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Learn from the first ``examined`` of the shown ``rows`` of ``features``."""
    raise NotImplementedError


@entry_point
def count_clusters(state: Any) -> int:
    """Return the number of clusters of users."""
    raise NotImplementedError
