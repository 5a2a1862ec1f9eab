"""Policies made of ridge models: scores, weights, statistics and clusters, written once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats, Ints, Items
from clubcascade.errors import UnknownUser
from clubcascade.kernels import grouped, ranking, single
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._models import Models
from clubcascade.policies._shelves import Shelves


class RidgePolicy(CompiledPolicy):
    """Every user is served by one of many ridge models."""

    n_features: int
    _models: Models

    def __init__(self) -> None:
        super().__init__()
        self._shelves = Shelves()

    # -- what a policy must say ----------------------------------------------------------------

    @abstractmethod
    def _model_of(self, user: Hashable) -> tuple[Models, int]:
        """Return the model that serves a user, a stranger included."""

    @property
    @abstractmethod
    def _rule(self) -> Floats:
        """The rule of the bonus: [beta, noise, delta]."""

    # -- what follows --------------------------------------------------------------------------

    def shelf(self, catalog: Catalog, k: int) -> Any:
        """Return what the kernels rank a catalogue from."""
        return self._shelves.get(catalog, self.lessons(catalog), k, self._models.capacity)

    def lessons(self, catalog: Catalog) -> Any:
        """Return the catalogue's features as the kernels know them."""
        return self.padded(catalog._rows)

    def _rank_stranger(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        models, g = self._model_of(user)
        guest = grouped.make(models.struct, np.array([g]), self._rule, np.zeros(1, np.int64))
        if isinstance(items, Catalog) and models is self._models:
            single.rank_catalog(guest, 0, self.shelf(items, len(rows)), rows, scores)
        else:
            loose = self.lessons(items) if isinstance(items, Catalog) else self.padded(items)
            single.rank_items(guest, 0, loose, rows, scores)

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item, capped at 1 as the paper prints it."""
        mean, width, radius = self._parts(user, items)
        return np.minimum(mean + radius * width, 1.0)

    def _parts(self, user: Hashable, items: Items) -> tuple[Floats, Floats, float]:
        self.number(user)
        loose = self._read_items(items)
        rows = self.lessons(loose) if isinstance(loose, Catalog) else self.padded(loose)
        with self._lock:
            models, g = self._model_of(user)
            mean, width = np.empty(len(rows)), np.empty(len(rows))
            a = models.arrays
            every = np.arange(len(rows))
            ranking.score_items(a["weights"][g], a["inverse"][g], rows, every, mean, width)
            return mean, width, float(grouped.bonus(models.struct, g, self._rule))

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
