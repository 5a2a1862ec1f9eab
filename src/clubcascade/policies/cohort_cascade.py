"""CohortCascade: the policy to use by default; nothing to tune."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Literal, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items
from clubcascade.learners.cohort import CohortModels
from clubcascade.learners.item_memory import MOST_ITEMS, RememberedItems
from clubcascade.links import read_link
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._users import kept_users, read_users


class CohortCascade(CompiledPolicy):
    """CohortCascade: finds who is alike, learns each user's own taste, and needs no tuning.

    A hierarchical Bayesian linear model. Every user has weights of its own, which lie around the
    mean of its cohort; cohort means lie around the mean of all users. Prior mean and prior
    precision of a user are selected prequentially: by what would have predicted past clicks best.
    Cohorts are found by Gibbs steps: a user is reassigned to a cohort drawn from its posterior;
    cohorts may split, merge and vanish. To explore, weights are drawn from the posterior (Thompson
    sampling), scaled by the measured noise. An item is scored by the larger of the draw and its
    mirror image, and each position of a list is chosen as if those before had been passed. A few
    new users, warm-up users, get a weak prior whatever is selected, or differences that are never
    shown would never be found.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``.
    link
        How weights and item make a probability: ``"identity"`` (their inner product, cut to
        [0, 1]) or ``"logistic"``.
    explore
        Width of the draws in posterior standard deviations; twice that for prior means.
    reg
        Ridge constant of the cohorts' and everyone's weights.
    max_cohorts
        The most cohorts at a time; then no new cohort is made.
    memory
        Items that are remembered of each user, 0 for none: see :class:`ItemMemory`.
    forget
        Half-life, in lists of a user: every so many of its lists, all that was learned of the user
        counts half from then on. For users and items that change; None to forget nothing.
    seed
        Seed of the draws (``recommend``) and of the moves (``update``).

    Examples
    --------
    >>> import numpy as np
    >>> policy = CohortCascade(n_features=2, seed=7)
    >>> items = np.eye(2)
    >>> for _ in range(40):
    ...     policy.update("alice", items[[1, 0]], click=1)
    ...     policy.update("bob", items[[0, 1]], click=1)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    >>> policy.clusters()
    [{'alice'}, {'bob'}]
    """

    n_features: int
    _cohorts: CohortModels

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        link: Literal["identity", "logistic"] = "identity",
        explore: float = 0.25,
        reg: float = 1.0,
        max_cohorts: int = 256,
        memory: int = 64,
        forget: int | None = None,
        seed: int = 0,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.link = validation.choice("link", link, ("identity", "logistic"))
        self.explore = validation.factor("explore", explore)
        self.reg = validation.ridge("reg", reg)
        self.max_cohorts = validation.whole("max_cohorts", max_cohorts, low=1)
        self.memory = validation.whole("memory", memory, low=0, high=MOST_ITEMS)
        self.forget = None if forget is None else validation.whole("forget", forget, low=1)
        self.seed = validation.whole("seed", seed, low=0)
        known = read_users(users)
        self._given = {"users": kept_users(users, known)}
        self._cohorts = CohortModels(
            self.n_features,
            len(known),
            logistic=self.link == "logistic",
            explore=self.explore,
            reg=self.reg,
            max_cohorts=self.max_cohorts,
            half_life=self.forget or 0,
            seed=self.seed,
        )
        logistic = self.link == "logistic"
        remembers = RememberedItems(
            self._cohorts, self.memory, known, half_life=self.forget or 0, logistic=logistic
        )
        super().__init__(remembers if self.memory else self._cohorts, known)

    def _row(self, user: Hashable) -> int:
        """Row of a user's statistics; a new user gets the one that is always empty."""
        return self._numbers.get(user, len(self._numbers))

    def _attraction(self, z: Floats) -> Floats:
        return read_link("logistic").mu(z) if self.link == "logistic" else np.clip(z, 0.0, 1.0)

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the expected attraction of every item, without a draw, within [0, 1]."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        expected = self._attraction(rows @ self._expected(user))
        with self._lock:
            self._recall(user, rows, np.arange(len(rows)), expected)
        return expected

    def _recall(self, user: Hashable, features: Floats, rows: Ints, expected: Floats) -> None:
        """Add what is remembered of the user's items."""
        number = self._numbers.get(user, -1)
        if number >= 0 and isinstance(self._learner, RememberedItems):
            self._learner.blend(number, features, rows, expected)

    @property
    def has_scores(self) -> bool:
        """Say yes."""
        return True

    def _convert_scores(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        learner = self._cohorts
        weights = learner.mean_weights(self._row(user), learner.arrays["mean_work"])
        table = items._rows if isinstance(items, Catalog) else items
        np.dot(table.take(rows, axis=0), weights, out=scores)
        if self.link == "logistic":
            scores[:] = self._attraction(scores)
        else:
            np.minimum(np.maximum(scores, 0.0, out=scores), 1.0, out=scores)
        self._recall(user, table, rows, scores)

    def _means(self, user: Hashable, items: Items) -> Floats:
        """Return what is expected of every item."""
        return self.scores(user, items)

    def _expected(self, user: Hashable) -> Floats:
        self.number(user)
        with self._lock:
            return self._cohorts.mean_weights(self._row(user), np.empty(self.n_features))

    def _parts(self, user: Hashable, items: Items) -> tuple[Floats, Floats, float]:
        """Return what is expected of every item, and how widely that is drawn (one deviation)."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        mean = rows @ self._expected(user)
        with self._lock:
            return mean, self._cohorts.widths(self._row(user), rows), 1.0

    def user_weights(self, user: Hashable) -> Floats:
        """Return the weights expected of a user."""
        self._known(user)
        return self._expected(user)

    def cluster_weights(self, user: Hashable) -> Floats:
        """Return the weights of a user's cohort, everyone's for a new user."""
        self.number(user)
        with self._lock:
            label = self._cohorts.arrays["label"][self._row(user)]
            return np.array(self._cohorts.models.arrays["weights"][label])

    def statistics(self, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return the user's own (gram, moment, count); no ridge term inside ``gram``."""
        number = self._known(user)
        with self._lock:
            a = self._cohorts.arrays
            return a["gram"][number].copy(), a["moment"][number].copy(), int(a["count"][number])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, seed=3)
        yield cls(n_features=3, users=range(3), max_cohorts=2, seed=4)
        yield cls(n_features=3, link="logistic", forget=8, seed=5)
