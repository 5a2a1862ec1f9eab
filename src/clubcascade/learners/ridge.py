"""Learners made of ridge models."""

from abc import abstractmethod
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.kernels import entry_points, grouped
from clubcascade.learners.base import CORES, Learner
from clubcascade.learners.lazy_indexes import LazyIndexes
from clubcascade.learners.models import Models
from clubcascade.links import Link

SMALL_BATCH = 20_000
"""Items times models below which a batch is not worth a second thread."""


class RidgeLearner(Learner):
    """Every user is served by one of many ridge models.

    ``radius`` is beta, noise and delta of :func:`clubcascade.kernels.grouped.confidence_radius`;
    ``link`` leads from ``weights . x`` to the probability of a click, None for the identity.
    """

    def __init__(
        self, models: Models, radius: tuple[float, float, float], link: Link | None = None
    ) -> None:
        self.models, self.radius, self.link = models, radius, link
        self._indexes = LazyIndexes()

    @abstractmethod
    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        """Return the model that serves a user; the number of a new user is the next one."""

    def confidence_radius(self, models: Models, g: int) -> float:
        """Return the radius of the confidence set of a model."""
        return grouped.confidence_radius(models.struct, g, *self.radius)

    def statistics(self, user: Hashable, number: int) -> tuple[Floats, Floats, int]:
        """Return copies of (gram, moment, count) that the weights of a user come from."""
        models, g = self.model_of(user, number)
        a = models.arrays
        return np.array(a["gram"][g]), np.array(a["moment"][g]), int(a["count"][g])

    def user_weights(self, user: Hashable, number: int) -> Floats:
        """Return the weights learned for a user; here those of its model."""
        models, g = self.model_of(user, number)
        return np.array(models.arrays["weights"][g])

    def training_view(self, catalog: Catalog) -> Any:
        return self.padded(catalog._rows)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        return self._indexes.get(catalog, self.training_view(catalog), k, self.models.capacity)

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        models, g = self.model_of(user, number)
        beta, noise, delta = self.radius
        alone = grouped.Grouped.make(
            ridge=models.struct,
            group=np.array([g]),
            discounts=np.zeros(0),
            beta=beta,
            noise=noise,
            delta=delta,
            n_clusters=1,
        )
        if isinstance(items, Catalog) and models is self.models:
            view = self.ranking_view(items, len(rows))
            entry_points.rank_catalog(alone, 0, view, rows, scores)
        else:
            loose = self.training_view(items) if isinstance(items, Catalog) else self.padded(items)
            entry_points.rank_items(alone, 0, loose, rows, scores)

    def rank_many(self, numbers: Ints, catalog: Catalog, rows: Ints) -> bool:
        """Rank once per model, on all cores: users of one model get one list."""
        if self.draws:
            return False
        labels = self.labels(1 + int(numbers.max(initial=-1)))[numbers]
        labels, first, place = np.unique(labels, return_index=True, return_inverse=True)
        lists = np.empty((len(labels), rows.shape[1]), np.int64)
        self.ranking_view(catalog, rows.shape[1])
        cache = self._indexes.cache(catalog)
        if len(cache.owner) < 2:
            parts = [np.arange(len(labels))]
        else:
            parts = [np.flatnonzero(labels % len(cache.owner) % CORES == c) for c in range(CORES)]

        def rank(part: Ints) -> None:
            found = np.empty((len(part), rows.shape[1]), np.int64)
            entry_points.rank_many(self.compiled, numbers[first[part]], cache.index(), found)
            lists[part] = found

        if len(labels) * len(catalog) < SMALL_BATCH or len(parts) == 1:
            for part in parts:
                rank(part)
        else:
            with ThreadPoolExecutor(CORES) as pool:
                list(pool.map(rank, parts))
        rows[:] = lists[place]
        return True
