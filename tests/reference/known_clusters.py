"""The true clusters are known: m independent linear cascading bandits (Li 2018, discussion)."""

from __future__ import annotations

import numpy as np


class KnownClusters:
    """A ridge model per cluster; statistics are kept per user and summed when asked for."""

    def __init__(self, d, partition, beta=1.0, reg=4.0):
        self.d, self.beta, self.lam = d, beta, reg
        self.partition = [set(part) for part in partition]
        everybody = [user for part in self.partition for user in part]
        self.S = {user: np.zeros((d, d)) for user in everybody}
        self.b = {user: np.zeros(d) for user in everybody}
        self.T = {user: 0 for user in everybody}

    def cluster(self, user):
        (part,) = [part for part in self.partition if user in part]
        return part

    def sums(self, user):
        part = self.cluster(user)
        M = self.lam * np.eye(self.d) + sum(self.S[i] for i in part)
        return M, sum(self.b[i] for i in part)

    def cluster_weights(self, user):
        M, b = self.sums(user)
        return np.linalg.solve(M, b)

    def user_weights(self, user):
        return np.linalg.solve(self.lam * np.eye(self.d) + self.S[user], self.b[user])

    def bounds(self, user, X):
        M, b = self.sums(user)
        M_inv = np.linalg.inv(M)
        return np.array([M_inv @ b @ x + self.beta * np.sqrt(x @ M_inv @ x) for x in X])

    def scores(self, user, X):
        return np.minimum(self.bounds(user, X), 1.0)

    def update(self, user, shown_rows, examined, clicks):
        for k in range(examined):
            self.S[user] = self.S[user] + np.outer(shown_rows[k], shown_rows[k])
            if k in clicks:
                self.b[user] = self.b[user] + shown_rows[k]
        self.T[user] += examined
