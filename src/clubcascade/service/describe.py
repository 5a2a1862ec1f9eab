"""What a service tells of itself: users, clusters, models, the last minutes, metrics."""

from __future__ import annotations

import collections
import math
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from clubcascade.core import Catalog, Floats
from clubcascade.errors import ClubCascadeError
from clubcascade.service import schemas
from clubcascade.service.model import Model

SHOWN = 10
"""Members and items that are shown of a cluster."""
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
        explore=model.explore,
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
        for place in order[:BANDS]:  # as many as the page gives a colour
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
    counts = collections.Counter(word for words in items for word in words)
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


# -- activity --------------------------------------------------------------------------------------


SECONDS = 900
EVERY = 2.0
"""Seconds between two looks at the clusters."""
MOST_USERS = 20_000
"""Users beyond which the clusters are not compared."""
BANDS = 20
"""Clusters whose sizes are kept, the largest; the others, and users alone, count as number -1."""
REST = 60.0
"""Seconds before the number of a cluster that is gone is given to another one."""


class Activity:
    """What one model did lately."""

    def __init__(self) -> None:
        self._beats: deque[list[float]] = deque(maxlen=SECONDS)
        self._sizes: deque[tuple[int, list[tuple[int, int]]]] = deque(maxlen=int(SECONDS / EVERY))
        self._moves: deque[dict[str, Any]] = deque(maxlen=20)
        self._groups: list[set[Any]] = []
        self._numbers: list[int] = []
        self._used: dict[int, float] = {}
        self._gate = threading.Lock()
        self._looked = 0.0
        self._version = -1
        self.lists = 0

    def _beat(self) -> list[float]:
        now = int(time.time())
        if not self._beats or self._beats[-1][0] != now:
            self._beats.append([now, 0, 0, 0, 0, 0])
        return self._beats[-1]

    def listed(self, explored: float | None) -> None:
        """Count a list; ``explored`` is the share of it that was shown to learn, if known."""
        self.lists += 1
        beat = self._beat()
        beat[1] += 1
        if explored is not None:
            beat[4] += explored
            beat[5] += 1

    def answered(self, clicked: bool) -> None:
        """Count an answer that was learned."""
        beat = self._beat()
        beat[2] += 1
        beat[3] += clicked

    def look(self, model: Model) -> None:
        """Note the clusters and who moved, now and then."""
        now = time.monotonic()
        if now - self._looked < EVERY or model.version == self._version:
            return
        self._looked, self._version = now, model.version
        policy: Any = model.policy
        if not hasattr(policy, "clusters") or len(policy.users) > MOST_USERS:
            return
        with model.lock:
            groups = policy.clusters()
        numbers = self.number(groups)
        sizes = sorted(zip(map(len, groups), numbers, strict=True), reverse=True)
        shown = sorted((number, size) for size, number in sizes[:BANDS] if number >= 0)
        others = sum(map(len, groups)) - sum(size for _, size in shown)
        self._sizes.append((int(time.time()), shown + [(-1, others)] * (others > 0)))

    def number(self, groups: list[set[Any]]) -> list[int]:
        """Return a number for each cluster, kept as long as it goes on; note who moved.

        A user alone is no cluster, and has the number -1.
        """
        if sum(map(len, groups)) > MOST_USERS:
            return list(range(len(groups)))
        with self._gate:
            before = {
                user: number
                for group, number in zip(self._groups, self._numbers, strict=True)
                for user in group
            }
            kept, now = same_groups(self._groups, groups), time.monotonic()
            used = {number: at for number, at in self._used.items() if now - at < REST}
            numbers = [
                self._numbers[was] if was >= 0 and len(group) > 1 else -1
                for was, group in zip(kept, groups, strict=True)
            ]
            free = (number for number in count() if number not in used and number not in numbers)
            for place in sorted(range(len(groups)), key=lambda place: -len(groups[place])):
                if numbers[place] < 0 and len(groups[place]) > 1:
                    numbers[place] = next(free)
            self._used = used | dict.fromkeys(numbers, now)
            for group, number in zip(groups, numbers, strict=True):
                for user in group:
                    if before.get(user, number) != number:
                        told = {"user": str(user), "from": before[user], "to": number}
                        self._moves.append({"at": int(time.time()), **told})
            self._groups, self._numbers = [set(group) for group in groups], numbers
            return numbers

    def tell(self) -> dict[str, Any]:
        """Return everything, as the page takes it."""
        return {
            "columns": ["at", "lists", "answers", "clicks", "explored", "looked"],
            "beats": list(self._beats),
            "clusters": list(self._sizes),
            "moves": list(self._moves),
        }


def same_groups(old: list[set[Any]], new: list[set[Any]]) -> list[int]:
    """Return for each new group the old one that it continues, below 0 if it is another.

    >>> same_groups([{1, 2, 3}, {4, 5}], [{4, 5, 1}, {2, 3}, {6}])
    [1, 0, -3]
    """
    before = {user: place for place, group in enumerate(old) for user in group}
    shared: dict[tuple[int, int], int] = {}
    for place, group in enumerate(new):
        for user in group:
            if user in before:
                pair = (place, before[user])
                shared[pair] = shared.get(pair, 0) + 1
    found = [-1 - place for place in range(len(new))]
    taken: set[int] = set()
    for place, was in sorted(shared, key=lambda pair: (-shared[pair], pair[1], pair[0])):
        if found[place] < 0 and was not in taken:
            found[place] = was
            taken.add(was)
    return found


# -- metrics ---------------------------------------------------------------------------------------


BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

Gauge = tuple[str, str, dict[str, str], float]
"""Name, help, labels and value."""


class Metrics:
    """What happened since the start of this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "clubcascade_requests",
            "Requests by endpoint and status.",
            ["endpoint", "status"],
            registry=self._registry,
        )
        self._feedback = Counter(
            "clubcascade_feedback",
            "Feedback by model and outcome.",
            ["model", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "clubcascade_request_seconds",
            "Time of requests by endpoint.",
            ["endpoint"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.outcomes: dict[tuple[str, str], int] = defaultdict(int)

    def took(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        child = self._children.get((endpoint, status))
        if child is None:
            counter = self._requests.labels(endpoint, status)
            child = counter, self._seconds.labels(endpoint)
            self._children[endpoint, status] = child
        child[0].inc()
        child[1].observe(seconds)

    def answered(self, model: str, outcome: str) -> None:
        """Count a piece of feedback."""
        self.outcomes[model, outcome] += 1
        self._feedback.labels(model, outcome).inc()

    def quantile(self, endpoint: str, share: float) -> float | None:
        """Return a bound that ``share`` of the requests kept, None if there were none.

        >>> metrics = Metrics()
        >>> for _ in range(99):
        ...     metrics.took("recommend", 200, 0.0007)
        >>> metrics.took("recommend", 200, 0.2)
        >>> metrics.quantile("recommend", 0.5), metrics.quantile("recommend", 0.999)
        (0.001, 0.25)
        """
        buckets = [
            (float(sample.labels["le"]), sample.value)
            for metric in self._seconds.collect()
            for sample in metric.samples
            if sample.name.endswith("_bucket") and sample.labels["endpoint"] == endpoint
        ]
        if not buckets:
            return None
        bound = next(bound for bound, count in buckets if count >= share * buckets[-1][1])
        return min(bound, 2 * BUCKETS[-1])

    def text(self, gauges: Iterable[Gauge], sees: Callable[[str], bool] = lambda _: True) -> str:
        """Return everything in Prometheus' text format.

        Parameters
        ----------
        gauges
            What is so now.
        sees
            Whether a model may be told of.
        """
        families: dict[str, Metric] = {}
        for name, about, labels, value in gauges:
            family = families.setdefault(name, GaugeMetricFamily(name, about, labels=list(labels)))
            family.add_sample(name, labels, float(value))
        told = [*self._registry.collect(), *families.values()]
        for metric in told:
            metric.samples = [
                sample
                for sample in metric.samples
                if ("model" not in sample.labels or sees(sample.labels["model"]))
                and not sample.name.endswith("_created")
            ]
        return generate_latest(SimpleNamespace(collect=lambda: told)).decode()
