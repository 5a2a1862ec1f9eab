"""Algorithm 1 of Li 2018 in the version for generalized linear rewards, over raw samples.

What differs from the linear algorithm: lines 5 and 8 solve Equation (8), with a penalty.
"""

from __future__ import annotations

import numpy as np

from tests.reference.club_cascade import ClubCascade
from tests.reference.glm import LARGEST_SLOPE, LINKS, Samples, estimate


class ClubCascadeGLM(ClubCascade):
    """The printed algorithm with an estimate of maximum likelihood per component and per user."""

    def __init__(self, d, users, alpha, beta, reg, link, penalty=None, edges=None):
        self.link = link
        self.penalty = LARGEST_SLOPE[link] * reg if penalty is None else penalty
        self.samples = {}
        super().__init__(d, users, alpha, beta, reg, edges=edges)

    def _add(self, user):
        super()._add(user)
        self.samples[user] = Samples(self.d)

    def cluster_weights(self, user, neighbours=None):
        members = [i for i in self.component(user, neighbours) if i in self.samples]
        X = np.vstack([np.zeros((0, self.d)), *(self.samples[i].X for i in members)])
        y = np.concatenate([np.zeros(0), *(self.samples[i].y for i in members)])
        return estimate(X, y, self.link, self.penalty)

    def bounds(self, user, X, neighbours=None, uniforms=None):
        M, _ = self._sums(user, neighbours)
        M_inv = np.linalg.inv(M)
        theta = self.cluster_weights(user, neighbours)
        return np.array([theta @ x + self.beta * np.sqrt(x @ M_inv @ x) for x in np.asarray(X)])

    def scores(self, user, X, neighbours=None, uniforms=None):
        return np.minimum(LINKS[self.link][0](self.bounds(user, X, neighbours)), 1.0)

    def weigh(self, user):
        known = self.samples[user]
        return estimate(known.X, known.y, self.link, self.penalty)

    def update(self, user, shown_rows, examined, clicks, neighbours=None):
        if user not in self.samples:
            self.join(user, neighbours)
        self.samples[user].add(shown_rows, examined, clicks)
        super().update(user, shown_rows, examined, clicks, neighbours)
