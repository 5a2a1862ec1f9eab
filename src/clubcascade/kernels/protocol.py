"""The kernel protocol: what every compiled policy state implements, by its type.

The loop of a simulation and the library's calls (``entry_points``) go through the first four
functions, so each algorithm exists once. The others serve the memory of items (``item_memory``),
which has a default for each.
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


@entry_point
def rank_catalog_recalled(
    state: Any, node: int, catalog: Any, recalled: Any, n_items: int, rows: Ints, scores: Floats
) -> None:
    """Rank a catalogue of ``n_items``, some of which the user has met."""
    raise NotImplementedError


@entry_point
def rank_items_recalled(
    state: Any,
    node: int,
    features: Floats,
    offered: Ints,
    recalled: Any,
    rows: Ints,
    scores: Floats,
) -> None:
    """Rank the ``offered`` rows of ``features``, some of which the user has met."""
    raise NotImplementedError


@entry_point
def expect_click(state: Any, node: int, features: Floats, row: int) -> float:
    """Return what is expected of one item before its feedback is learned; by default 0."""
    raise NotImplementedError


@entry_point
def note_share(state: Any, share: float) -> None:
    """Take note of the share of what is unexplained that stays with a user and an item."""
    raise NotImplementedError


@entry_point
def skip_list(state: Any, node: int) -> None:
    """Take note of a list of a user that tells nothing new."""
    raise NotImplementedError
