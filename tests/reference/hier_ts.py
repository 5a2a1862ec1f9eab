"""HierTS: one normal prior over the users, learned by EM; every observation is kept."""

from __future__ import annotations

import numpy as np


class HierTS:
    """``w_i ~ N(mu, Sigma)``, ``y = w_i . x + N(0, s2)``; ``mu ~ N(0, I)``.

    After an update the three parameters follow one EM step over all users, when the number of
    observations has grown by a tenth since the last step.
    """

    def __init__(self, d):
        self.d = d
        self.mu = np.zeros(d)
        self.mu_precision = np.eye(d)
        self.Sigma = np.eye(d) / d
        self.s2 = 0.25
        self.due = 1
        self.seen = {}  # user -> list of (x, y)

    def data(self, user):
        rows = self.seen.get(user, [])
        X = np.array([x for x, _ in rows]).reshape(-1, self.d)
        return X, np.array([y for _, y in rows])

    def posterior(self, user, mu=None):
        """Mean and covariance of a user's weights, given the mean of all."""
        X, y = self.data(user)
        L = np.linalg.inv(self.Sigma)
        C = np.linalg.inv(X.T @ X / self.s2 + L)
        return C @ (X.T @ y / self.s2 + L @ (self.mu if mu is None else mu)), C

    def draw(self, user, z1, z2):
        """The weights that two standard normal vectors stand for."""
        R = np.linalg.cholesky(self.mu_precision).T
        mu = self.mu + np.linalg.inv(R) @ z1
        mean, C = self.posterior(user, mu)
        R = np.linalg.cholesky(np.linalg.inv(C)).T
        return mean + np.linalg.inv(R) @ z2

    def bounds(self, user, items, z1, z2):
        return np.array([x @ self.draw(user, z1, z2) for x in items])

    def update(self, user, shown_rows, examined, clicks):
        for p in range(examined):
            self.seen.setdefault(user, []).append((shown_rows[p], float(p in clicks)))
        n = sum(map(len, self.seen.values()))
        if n >= self.due:
            self.step()
            self.due = n + 1 + n // 10

    def step(self):
        """One EM step: the mean by generalised least squares, then covariance and noise."""
        precision, pull = np.eye(self.d), np.zeros(self.d)  # the prior of mu
        for user in self.seen:
            X, y = self.data(user)
            marginal = np.linalg.inv(self.s2 * np.eye(len(y)) + X @ self.Sigma @ X.T)
            precision = precision + X.T @ marginal @ X
            pull = pull + X.T @ marginal @ y
        mu = np.linalg.solve(precision, pull)
        spread, error, n = np.eye(self.d) / self.d, 10 * 0.25, 10  # one user, ten observations
        for user in self.seen:
            X, y = self.data(user)
            m, C = self.posterior(user, mu)
            spread = spread + C + np.outer(m - mu, m - mu)
            error += np.sum((y - X @ m) ** 2) + np.trace(X @ C @ X.T)
            n += len(y)
        self.mu, self.mu_precision = mu, precision
        self.Sigma = spread / (1 + len(self.seen))
        self.s2 = error / n
