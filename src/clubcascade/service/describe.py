"""Models described for people: a user's card, the clusters and their taste, the model itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable
from random import Random
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats
from clubcascade.errors import ClubCascadeError
from clubcascade.service import schemas
from clubcascade.service.model import Model

SHOWN = 10
"""Clusters that are shown with members and taste; members and items of each."""
SAMPLE = 1_000
"""Items of a catalogue with which those that a cluster likes are compared."""

_WORD = re.compile(r"[^\W\d_]{2,}")

Words = tuple[set[str], set[str]]
"""Categories of an item, and words of its title."""
Numbers = Callable[[list[set[Any]]], list[int]]
"""Gives clusters the numbers that they keep."""


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
        explore=model.start.get("explore", 1.0),
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
    means = model.means(user, items)
    if means is None or not rows:
        return None
    greedy = np.argsort(-means, kind="stable")[: len(rows)]
    return 1.0 - len(rows.intersection(greedy.tolist())) / len(rows)


def user_card(model: Model, user: Hashable, k: int, numbers: Numbers) -> schemas.UserCard:
    """Describe a user; nothing is drawn and nothing is learned."""
    policy = model.policy
    known = isinstance(user, str | int) and user in getattr(policy, "_numbers", {})
    looked = cluster = size = None
    with model.lock:
        if known and hasattr(policy, "statistics"):
            looked = int(policy.statistics(user)[2])
        groups = policy.clusters() if known and hasattr(policy, "clusters") else []
        for number, members in zip(numbers(groups), groups, strict=True):
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
            *_about(model, catalog.ids[row]),
        )
        for row in rows
    ]


def _about(model: Model, item: Hashable) -> tuple[str | None, dict[str, Any] | None]:
    """Return the title of an item, and all that is known of it."""
    row = model.metadata.get(item)
    names = [model.start.get("title"), "title", "name"]
    title = next((row[name] for name in names if name in row), None) if row else None
    return None if title is None else str(title), row


def clusters(model: Model, numbers: Numbers) -> schemas.Clusters:
    """Describe the clusters, largest first."""
    policy, catalog = model.policy, model.catalog
    ids = () if catalog is None else catalog.ids
    rows = Random(0).sample(range(len(ids)), min(len(ids), SAMPLE))
    sample = [_words(model, ids[row]) for row in rows]
    with model.lock:
        groups: list[set[Any]] = policy.clusters() if hasattr(policy, "clusters") else []
        known = numbers(groups)
        order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))
        shown = []
        for place in order[:SHOWN]:
            members = sorted(groups[place], key=str)
            taste: list[schemas.ListedItem] = []
            if catalog is not None and members and hasattr(policy, "cluster_weights"):
                values = (
                    catalog.features @ policy.cluster_weights(members[0])[-catalog.n_features :]
                )
                taste = [
                    schemas.ListedItem(
                        ids[row], float(values[row]), None, None, *_about(model, ids[row])
                    )
                    for row in np.argsort(-values, kind="stable")[:SHOWN].tolist()
                ]
            best = [_words(model, item.id) for item in taste[: len(ids) // 4]]
            likes = in_words(best, sample)
            names = [m if isinstance(m, str | int) else str(m) for m in members[:SHOWN]]
            shown.append(schemas.Cluster(known[place], len(members), names, taste[:5], likes))
    return schemas.Clusters(shown, sorted((len(g) for g in groups), reverse=True))


def in_words(best: list[Words], sample: list[Words]) -> str:
    """Return what many of the best items have, and not as many of a sample: categories, or words.

    >>> other = (set(), {"slow", "opera"})
    >>> in_words([(set(), {"jazz"}), (set(), {"slow", "jazz"}), (set(), {"blues"})], [other] * 9)
    'jazz, blues'
    """
    for kind in (0, 1):
        shares, usual = (_shares([item[kind] for item in items]) for items in (best, sample))
        found = [w for w in shares if shares[w] >= 0.3 and shares[w] > 1.5 * usual.get(w, 0.0)]
        if found:
            return ", ".join(sorted(found, key=lambda word: (-shares[word], word))[:2])
    return ""


def _shares(items: list[set[str]]) -> dict[str, float]:
    """Return the share of the items that have a word, by word."""
    counts = Counter(word for words in items for word in words)
    return {word: count / len(items) for word, count in counts.items()}


def _words(model: Model, item: Hashable) -> Words:
    """Return the categories of an item, and the words of its title, or else of its id."""
    title, row = _about(model, item)
    return {*map(str.lower, texts(row))}, {*_WORD.findall((title or str(item)).lower())}


def texts(row: dict[str, Any] | None) -> list[str]:
    """Return the texts of an item's columns.

    >>> texts({"title": "Sencha", "price": 4.5, "tags": ["green", "hot"]})
    ['Sencha', 'green', 'hot']
    """
    cells = [cell if isinstance(cell, list) else [cell] for cell in (row or {}).values()]
    return [part for cell in cells for part in cell if isinstance(part, str)]
