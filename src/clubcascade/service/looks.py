"""Looks at a model for people: a user's card, the clusters and their taste, the model itself."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats
from clubcascade.errors import ClubCascadeError
from clubcascade.service import schemas
from clubcascade.service.model import Model

SHOWN = 10
"""Clusters that are shown with members and taste; members and items of each."""


def model_info(model: Model) -> schemas.ModelInfo:
    """Describe a model."""
    policy, catalog = model.policy, model.catalog
    users = getattr(policy, "users", None)
    return schemas.ModelInfo(
        model=model.name,
        policy=policy.registry_name(),
        params={name: _plain(value) for name, value in policy.params.items()},
        n_features=policy.n_features,
        items=0 if catalog is None else len(catalog),
        users=len(users) if isinstance(users, list) else None,
        version=model.version,
        counters=dict(model.counters),
    )


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can say it.

    >>> _plain(range(3)), _plain(math.inf), _plain({"alice": 1}), _plain(("de", 7))
    ('range(0, 3)', 'inf', {'alice': 1}, "('de', 7)")
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and len(value) <= 100:
        return [_plain(part) for part in value]
    if isinstance(value, dict) and len(value) <= 100:
        return {str(key): _plain(part) for key, part in value.items()}
    return str(value)[:200]


def parts(model: Model, user: Hashable, items: Floats | Catalog) -> tuple[Floats, Floats] | None:
    """Return mean and width of every item for a user; None for a policy without such parts."""
    known = getattr(model.policy, "_parts", None)
    if known is None:
        return None
    try:
        mean, width, _ = known(user, items)
    except ClubCascadeError:
        return None
    return mean, width


def explored(model: Model, user: Hashable, items: Floats | Catalog, rows: set[int]) -> float | None:
    """Return the share of a list that is not among the best by what is known so far."""
    expected = getattr(model.policy, "_means", None)
    means: Any
    if expected is not None:
        means = expected(user, items)
    else:
        found = parts(model, user, items)
        means = None if found is None else found[0]
    if means is None or not rows:
        return None
    greedy = np.argsort(-means, kind="stable")[: len(rows)]
    return 1.0 - len(rows.intersection(greedy.tolist())) / len(rows)


def user_card(model: Model, user: Hashable, k: int) -> schemas.UserCard:
    """Describe a user; nothing is drawn and nothing is learned."""
    policy = model.policy
    known = isinstance(user, str | int) and user in getattr(policy, "_numbers", {})
    looked = cluster = size = None
    with model.lock:
        if known and hasattr(policy, "statistics"):
            looked = int(policy.statistics(user)[2])
        groups = policy.clusters() if known and hasattr(policy, "clusters") else []
        for number, members in enumerate(groups):
            if user in members:
                cluster, size = number, len(members)
        listed = _best(model, user, k)
    return schemas.UserCard(user, known, looked, cluster, size, listed)  # type: ignore[arg-type]


def _best(model: Model, user: Hashable, k: int) -> list[schemas.ListedItem]:
    """Return the items with the highest scores, of the registered ones."""
    catalog, score = model.catalog, getattr(model.policy, "scores", None)
    if catalog is None or score is None:
        return []
    try:
        values = score(user, catalog)
    except ClubCascadeError:
        return []
    found = parts(model, user, catalog)
    rows = np.argsort(-values, kind="stable")[:k].tolist()
    return [
        schemas.ListedItem(
            catalog.ids[row],
            float(values[row]),
            None if found is None else float(found[0][row]),
            None if found is None else float(found[1][row]),
        )
        for row in rows
    ]


def clusters(model: Model) -> schemas.Clusters:
    """Describe the clusters, largest first."""
    policy, catalog = model.policy, model.catalog
    with model.lock:
        groups: list[set[Any]] = policy.clusters() if hasattr(policy, "clusters") else []
        order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))
        shown = []
        for number in order[:SHOWN]:
            members = sorted(groups[number], key=str)
            taste: list[schemas.ListedItem] = []
            if catalog is not None and members and hasattr(policy, "cluster_weights"):
                values = (
                    catalog.features @ policy.cluster_weights(members[0])[-catalog.n_features :]
                )
                taste = [
                    schemas.ListedItem(catalog.ids[row], float(values[row]))
                    for row in np.argsort(-values, kind="stable")[:5].tolist()
                ]
            names = [m if isinstance(m, str | int) else str(m) for m in members[:SHOWN]]
            shown.append(schemas.Cluster(number, len(members), names, taste))
    return schemas.Clusters(shown, sorted((len(g) for g in groups), reverse=True))
