"""Algorithm 1 in decent NumPy: what one would write from the paper, and what we compare with.

One inverse, one product ``((X @ M_inv) * X).sum(1)`` and one pass of SciPy over the graph a round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clubcascade.core import Floats, Ints


class LiteralClub:
    """CLUB-cascade as printed, users 0 to ``n_users - 1`` known beforehand, complete start.

    Parameters
    ----------
    n_users, n_features
        Sizes.
    alpha, beta, reg
        As for :class:`clubcascade.ClubCascade`.

    Examples
    --------
    >>> club = LiteralClub(n_users=2, n_features=2, alpha=0.3, beta=1.0, reg=1.0)
    >>> club.update(0, np.eye(2), click=0)
    >>> club.recommend(0, np.eye(2), k=1)
    array([0])
    """

    def __init__(
        self, n_users: int, n_features: int, alpha: float, beta: float, reg: float
    ) -> None:
        self.alpha, self.beta, self.reg = alpha, beta, reg
        self.edges: npt.NDArray[np.bool_] = ~np.eye(n_users, dtype=bool)
        self.gram = np.zeros((n_users, n_features, n_features))
        self.moment = np.zeros((n_users, n_features))
        self.count = np.zeros(n_users)
        self.weights = np.zeros((n_users, n_features))
        self.ridge = reg * np.eye(n_features)

    def labels(self) -> Ints:
        """Return the component of each user."""
        graph: Any = csr_array(self.edges)
        _, labels = connected_components(graph, directed=False)
        return np.asarray(labels, dtype=np.intp)

    def recommend(self, user: int, items: Floats, k: int) -> Ints:
        """Lines 5 to 7."""
        labels = self.labels()
        members = labels == labels[user]
        inverse = np.linalg.inv(self.ridge + self.gram[members].sum(axis=0))
        weights = inverse @ self.moment[members].sum(axis=0)
        width = np.sqrt(((items @ inverse) * items).sum(axis=1))
        bounds = items @ weights + self.beta * width
        return np.argsort(-bounds, kind="stable")[:k]

    def update(self, user: int, shown: Floats, click: int | None) -> None:
        """Lines 8 to 10."""
        seen = shown if click is None else shown[: click + 1]
        self.gram[user] += seen.T @ seen
        if click is not None:
            self.moment[user] += shown[click]
        self.count[user] += len(seen)
        inverse = np.linalg.inv(self.ridge + self.gram[user])
        self.weights[user] = inverse @ self.moment[user]
        radius = np.sqrt((1 + np.log(1 + self.count)) / (1 + self.count))
        apart = np.linalg.norm(self.weights - self.weights[user], axis=1)
        gone = self.edges[user] & (apart >= self.alpha * (radius + radius[user]))
        self.edges[user, gone] = False
        self.edges[gone, user] = False
