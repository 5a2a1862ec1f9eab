"""SCLUB: clusters are sets of users; single users are split off, and close clusters merge.

Algorithms 1 to 4 of Li, Chen, Li and Leung, "Improved algorithm on online clustering of bandits",
IJCAI 2019; the symbols in the comments are theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear, ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.edge_deletion import radius_of
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)


@struct
class SetClub(Struct):
    """The whole state.

    Per user: its model in ``own`` (S_i, b_i, T_i), its cluster's ``label``, the ``rounds`` in
    which it came, and the last phase in which it was ``checked``. Per label: its model in ``ridge``
    (S^j, b^j, T^j), its ``radius`` F(T^j), ``size``, ``n_checked``, ``total_rounds`` of its users,
    and ``pivot`` and ``pivot_count``: weights and count at the start of the phase. Labels below
    ``n_labels`` have been used; one of size 0 is free.

    No user of a cluster came in fewer rounds than ``fewest`` or in more than ``most``; these bounds
    are made exact only where they matter. A cluster can merge with another one only once
    frequencies that differ by more than ``due``, in rounds, count as close: until then the pair
    need not be tested again. A cluster that changed has 0 there.
    """

    ridge: models.Ridge
    own: models.Ridge
    radius: Floats
    label: Ints
    rounds: Ints
    checked: Ints
    size: Ints
    n_checked: Ints
    total_rounds: Ints
    fewest: Ints
    most: Ints
    pivot: Floats
    pivot_count: Ints
    due: Floats
    alpha_theta: float
    alpha_p: float
    beta: float
    n_users: int
    n_labels: int
    n_clusters: int
    n_rounds: int
    phase: int


@kernel
def _begin_phase(state: SetClub) -> None:
    """Algorithm 1, lines 5 and 6: nobody is checked, and every cluster's estimate is kept."""
    state.phase += 1
    for g in range(state.n_labels):
        state.n_checked[g] = 0
        _keep_pivot(state, g, state.ridge.weights[g], state.ridge.count[g])


@kernel
def _keep_pivot(state: SetClub, g: int, weights: Floats, count: int) -> None:
    for f in range(weights.shape[0]):
        state.pivot[g, f] = weights[f]
    state.pivot_count[g] = count


@kernel
def _note_change(state: SetClub, g: int) -> None:
    """Bring a cluster's radius up to date, and have it compared with the others."""
    state.radius[g] = radius_of(state.ridge.count[g], False)
    state.due[g] = 0.0


@kernel
def _threshold(state: SetClub) -> float:
    """``alpha_p F(tau)``, in rounds."""
    return state.alpha_p * (state.n_rounds * radius_of(state.n_rounds, False))


# -- split -------------------------------------------------------------------------------------


@kernel
def _find_extremes(state: SetClub, g: int) -> None:
    """Make the bounds on the rounds of a cluster's users exact."""
    fewest, most = state.most[g], state.fewest[g]
    for user in range(state.n_users):
        if state.label[user] == g:
            fewest = min(fewest, state.rounds[user])
            most = max(most, state.rounds[user])
    state.fewest[g], state.most[g] = fewest, most


@kernel
def _spread(state: SetClub, node: int, g: int) -> int:
    """By how many rounds a user differs from another one of its cluster, at most."""
    return max(state.rounds[node] - state.fewest[g], state.most[g] - state.rounds[node])


@kernel
def _is_unlike(state: SetClub, node: int, g: int) -> bool:
    """Algorithm 3, line 2: tell whether a user's weights or frequency are not its cluster's."""
    distance = math.sqrt(linear.square_distance(state.own.weights[node], state.pivot[g]))
    radii = radius_of(state.own.count[node], False) + radius_of(state.pivot_count[g], False)
    if distance > state.alpha_theta * radii:
        return True
    threshold = 2.0 * _threshold(state)
    if _spread(state, node, g) <= threshold:
        return False
    _find_extremes(state, g)
    return _spread(state, node, g) > threshold


@kernel
def _split(state: SetClub, node: int) -> None:
    """Algorithm 3: a user who is unlike its cluster becomes a cluster of its own."""
    g = state.label[node]
    if state.size[g] == 1 or not _is_unlike(state, node, g):
        return
    ridge, own = state.ridge, state.own
    new = 0
    while state.size[new] > 0:
        new += 1
    state.n_labels = max(state.n_labels, new + 1)
    models.clear(ridge, new)
    models.add(ridge, new, own.gram[node], own.moment[node], own.count[node], 1.0)
    models.renew(ridge, new)
    models.add(ridge, g, own.gram[node], own.moment[node], own.count[node], -1.0)
    if ridge.count[g] == 0:
        models.clear(ridge, g)
    else:
        models.renew(ridge, g)
    was_checked = np.int64(state.checked[node] == state.phase)
    state.label[node] = new
    state.size[g] -= 1
    state.size[new] = 1
    state.n_checked[g] -= was_checked
    state.n_checked[new] = was_checked
    state.total_rounds[g] -= state.rounds[node]
    state.total_rounds[new] = state.rounds[node]
    state.fewest[new] = state.rounds[node]
    state.most[new] = state.rounds[node]
    _note_change(state, g)
    _note_change(state, new)
    _keep_pivot(state, new, own.weights[node], own.count[node])
    state.n_clusters += 1


# -- merge -------------------------------------------------------------------------------------


@kernel
def _find_partner(state: SetClub, g: int, threshold: float) -> int:
    """Return the first cluster that ``g`` can merge with; -1 for none, and when to look again.

    Algorithm 4, line 1: close mean frequencies, and close weights.
    """
    # names for the arrays: through the structure, each would be looked up anew in the loop
    size, n_checked, total_rounds = state.size, state.n_checked, state.total_rounds
    weights, radius = state.ridge.weights, state.radius
    mean, due = total_rounds[g] / size[g], np.inf
    for h in range(state.n_labels):
        if h == g or size[h] == 0 or n_checked[h] < size[h]:
            continue
        gap = abs(mean - total_rounds[h] / size[h])
        if gap >= due:
            continue
        distance = math.sqrt(linear.square_distance(weights[g], weights[h]))
        if distance < 0.5 * state.alpha_theta * (radius[g] + radius[h]):
            if gap < threshold:
                return h
            due = gap
    state.due[g] = due
    return -1


@kernel
def _unite(state: SetClub, g: int, h: int) -> None:
    """Add all that cluster ``h`` has to ``g``."""
    ridge = state.ridge
    models.add(ridge, g, ridge.gram[h], ridge.moment[h], ridge.count[h], 1.0)
    models.renew(ridge, g)
    for user in range(state.n_users):
        if state.label[user] == h:
            state.label[user] = g
    state.size[g] += state.size[h]
    state.n_checked[g] += state.n_checked[h]
    state.total_rounds[g] += state.total_rounds[h]
    state.fewest[g] = min(state.fewest[g], state.fewest[h])
    state.most[g] = max(state.most[g], state.most[h])
    state.size[h] = 0
    _note_change(state, g)
    state.n_clusters -= 1


@kernel
def _merge(state: SetClub) -> None:
    """Algorithm 4: while two checked clusters are close, merge the first pair of labels.

    Only clusters that are due are compared with the others: all other pairs were found apart.
    """
    threshold = _threshold(state)
    while True:
        none = state.n_labels
        first, second = none, none
        for g in range(state.n_labels):
            checked = 0 < state.size[g] == state.n_checked[g]  # all its users came in this phase
            if checked and state.due[g] < threshold:
                h = _find_partner(state, g, threshold)
                if h >= 0 and (min(g, h), max(g, h)) < (first, second):
                    first, second = min(g, h), max(g, h)
        if first == none:
            return
        _unite(state, first, second)


# -- the protocol ------------------------------------------------------------------------------


@implements(rank_catalog, SetClub)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    rank_lazily(state.ridge, state.label[node], state.beta, catalog, rows, scores)


@implements(rank_items, SetClub)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.label[node]
    weights, inverse = state.ridge.weights[g], state.ridge.inverse[g]
    ranking.rank_fully(weights, inverse, state.beta, features, offered, rows, scores)


@implements(expect_click, SetClub)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(state.ridge.weights[state.label[node]], features[row])


@implements(learn, SetClub)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    state.n_rounds += 1
    if state.n_rounds & (state.n_rounds + 1) == 0:  # rounds 1, 3, 7, 15, ...
        _begin_phase(state)
    g = state.label[node]
    if state.rounds[node] == 0:
        models.clear(state.own, node)
    for p in range(examined):
        models.observe(state.ridge, g, features[rows[p]], rewards[p])
        models.observe(state.own, node, features[rows[p]], rewards[p])
    models.settle(state.ridge, g)
    models.settle(state.own, node)
    state.rounds[node] += 1
    state.total_rounds[g] += 1
    state.most[g] = max(state.most[g], state.rounds[node])
    _note_change(state, g)
    _split(state, node)
    if state.checked[node] != state.phase:
        state.checked[node] = state.phase
        state.n_checked[state.label[node]] += 1
    _merge(state)


@implements(count_clusters, SetClub)
def _count_clusters(state: Any) -> Any:
    return state.n_clusters
