"""Policies made of ridge models: scores, weights, statistics and clusters, written once."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats, Ints, Items
from clubcascade.errors import UnknownUser
from clubcascade.kernels import entry_points, grouped, ranking
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._lazy_indexes import LazyIndexes
from clubcascade.policies._models import Models

CORES = os.cpu_count() or 1
SMALL_BATCH = 20_000
"""Items times models below which a batch is not worth a second thread."""


class RidgePolicy(CompiledPolicy):
    """Every user is served by one of many ridge models."""

    n_features: int
    _models: Models

    @property
    def draws(self) -> bool:
        """Tell whether ``recommend`` draws random numbers, so that the order of calls matters."""
        return False

    def __init__(self) -> None:
        super().__init__()
        self._indexes = LazyIndexes()

    # -- what a policy must say ----------------------------------------------------------------

    @abstractmethod
    def _model_of(self, user: Hashable) -> tuple[Models, int]:
        """Return the model that serves a user, a stranger included."""

    @property
    @abstractmethod
    def _radius(self) -> tuple[float, float, float]:
        """The constants of the confidence radius: beta, noise, delta."""

    # -- what follows --------------------------------------------------------------------------

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return what the kernels rank a catalogue from."""
        return self._indexes.get(catalog, self.training_view(catalog), k, self._models.capacity)

    def training_view(self, catalog: Catalog) -> Any:
        """Return the catalogue's features as the kernels know them."""
        return self.padded(catalog._rows)

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        models, g = self._model_of(user)
        beta, noise, delta = self._radius
        guest = grouped.Grouped.make(
            ridge=models.struct,
            group=np.array([g]),
            discounts=np.zeros(0),
            beta=beta,
            noise=noise,
            delta=delta,
            n_clusters=1,
        )
        if isinstance(items, Catalog) and models is self._models:
            entry_points.rank_catalog(guest, 0, self.ranking_view(items, len(rows)), rows, scores)
        else:
            loose = self.training_view(items) if isinstance(items, Catalog) else self.padded(items)
            entry_points.rank_items(guest, 0, loose, rows, scores)

    def _rank_many(self, users: Sequence[Hashable], items: Floats | Catalog, rows: Ints) -> None:
        """Rank once per model, on all cores: users of one model get one list."""
        numbers = np.fromiter((self._numbers.get(user, -1) for user in users), np.int64, len(users))
        alike = self.ranks_by_model and not self.draws
        if not alike or not isinstance(items, Catalog) or (numbers < 0).any():
            super()._rank_many(users, items, rows)
            return
        labels, first, place = np.unique(
            self.labels()[numbers], return_index=True, return_inverse=True
        )
        lists = np.empty((len(labels), rows.shape[1]), np.int64)
        self.ranking_view(items, rows.shape[1])
        cache = self._indexes.cache(items)
        turns = np.arange(len(labels)) if len(cache.owner) < 2 else labels % len(cache.owner)
        parts = [np.flatnonzero(turns % CORES == core) for core in range(CORES)]
        if len(cache.owner) < 2:
            parts = [np.arange(len(labels))]

        def rank(part: Ints) -> None:
            found = np.empty((len(part), rows.shape[1]), np.int64)
            entry_points.rank_many(self.compiled, numbers[first[part]], cache.index(), found)
            lists[part] = found

        if len(labels) * len(items) < SMALL_BATCH or len(parts) == 1:
            for part in parts:
                rank(part)
        else:
            with ThreadPoolExecutor(CORES) as pool:
                list(pool.map(rank, parts))
        rows[:] = lists[place]

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item, capped at 1 as the paper prints it."""
        mean, width, radius = self._parts(user, items)
        return np.minimum(mean + radius * width, 1.0)

    @property
    def has_scores(self) -> bool:
        """Say yes, if lists are ranked by the very scores that :meth:`scores` returns."""
        return type(self).scores is RidgePolicy.scores and not self.draws

    def _convert_scores(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        np.minimum(scores, 1.0, out=scores)

    def _parts(self, user: Hashable, items: Items) -> tuple[Floats, Floats, float]:
        self.number(user)
        loose = self._read_items(items)
        rows = self.training_view(loose) if isinstance(loose, Catalog) else self.padded(loose)
        with self._lock:
            models, g = self._model_of(user)
            mean, width = np.empty(len(rows)), np.empty(len(rows))
            a = models.arrays
            every = np.arange(len(rows))
            ranking.score_items(a["weights"][g], a["inverse"][g], rows, every, mean, width)
            return mean, width, float(grouped.confidence_radius(models.struct, g, *self._radius))

    def cluster_weights(self, user: Hashable) -> Floats:
        """Return the weights of the model that serves a user."""
        self.number(user)
        with self._lock:
            models, g = self._model_of(user)
            return np.array(models.arrays["weights"][g])

    def user_weights(self, user: Hashable) -> Floats:
        """Return the weights learned for a user; here those of its model."""
        self._known(user)
        return self.cluster_weights(user)

    def statistics(self, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return (gram, moment, count) of the user's model; no ridge term inside ``gram``."""
        self._known(user)
        with self._lock:
            models, g = self._model_of(user)
            a = models.arrays
            return np.array(a["gram"][g]), np.array(a["moment"][g]), int(a["count"][g])

    def _known(self, user: Hashable) -> int:
        number = self.number(user)
        if number < 0:
            raise UnknownUser(f"user must be one that the policy has met, got {user!r}")
        return number
