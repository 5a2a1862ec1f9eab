"""Ridge models over a fixed partition of the users: one for all, one each, or known clusters."""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.shelf import rank_shelf
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class GroupedType(StructType):
    """Type of :class:`Grouped`."""


@struct(GroupedType)
class Grouped(Struct):
    """Models, the model of each user, and the rule of the bonus.

    ``rule`` = [beta, noise, delta, then the position discounts, if any]: with a noise above 0 the
    bonus grows with the model's log-determinant, otherwise it is the constant beta. ``tally`` =
    [number of clusters].
    """

    ridge: models.Ridge
    group: Ints
    rule: Floats
    tally: Ints


@kernel
def make(*fields: Any) -> Grouped:
    """Bind arrays into one structure that the kernels take."""
    return Grouped(*fields)


@kernel
def bonus(ridge: Any, g: int, rule: Floats) -> float:
    """Radius of the confidence set of model ``g``."""
    if rule[1] <= 0.0:
        return rule[0]
    d = ridge.moment.shape[1]
    reg = ridge.reg[0]
    spread = ridge.log_det[g] - d * math.log(reg) - 2.0 * math.log(rule[2])
    return rule[1] * math.sqrt(max(spread, 0.0)) + math.sqrt(reg)


@answer(rank_catalog, GroupedType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    rank_shelf(state.ridge, g, bonus(state.ridge, g, state.rule), shelf, rows, scores)


@answer(rank_items, GroupedType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    ranking.rank_loose(
        state.ridge.weights[g],
        state.ridge.inverse[g],
        bonus(state.ridge, g, state.rule),
        features,
        offered,
        rows,
        scores,
    )


@answer(learn, GroupedType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.group[node]
    if state.rule.shape[0] > 3:
        for p in range(examined):
            discount = models.discount_at(state.rule[3:], p)
            x = models.discounted(state.ridge, discount, features[rows[p]])
            models.observe(state.ridge, g, x, discount * rewards[p])
    else:
        for p in range(examined):
            models.observe(state.ridge, g, features[rows[p]], rewards[p])
    models.settle(state.ridge, g)


@answer(count_clusters, GroupedType)
def _count_clusters(state: Any) -> Any:
    return state.tally[0]
