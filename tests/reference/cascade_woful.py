"""The variance-aware algorithm for linear rewards of Vial, Sanghavi, Shakkottai and Srikant, 2022.

A Hoeffding-style regression bounds each click's probability, and so its variance; a weighted one,
with a Bernstein-style radius (Zhou, Gu and Szepesvari, 2021), ranks. Every observation is kept.
"""

from __future__ import annotations

import numpy as np


class CascadeWOFUL:
    """``beta`` is a constant for both radii, or None for those of the theory."""

    def __init__(self, d, beta=None, reg=1.0, delta=0.05):
        self.d, self.constant, self.lam, self.delta = d, beta, reg, delta
        self.X = np.zeros((0, d))  # all items looked at, one per row
        self.Y = np.zeros(0)  # 1 for a click
        self.variances = np.zeros(0)  # the bound on the variance of each
        self.K = 1

    def regression(self, w):
        """Weights and inverse matrix of ridge regression with these weights of observations."""
        V = self.lam * np.eye(self.d) + (self.X.T * w) @ self.X
        return np.linalg.solve(V, (self.X.T * w) @ self.Y), np.linalg.inv(V)

    def hoeffding_radius(self):
        if self.constant is not None:
            return self.constant
        det = np.linalg.det(np.eye(self.d) + self.X.T @ self.X / self.lam)
        return 0.5 * np.sqrt(np.log(det / self.delta**2)) + np.sqrt(self.lam)

    def bernstein_radius(self):
        if self.constant is not None:
            return self.constant
        n = len(self.Y)
        if n == 0:
            return np.sqrt(self.lam)
        confidence = np.log(4 * n**2 / self.delta)
        size = self.d * np.log(1 + n * self.K / (self.d * self.lam))
        R = np.sqrt(self.K)
        return 8 * np.sqrt(size * confidence) + 4 * R * confidence + np.sqrt(self.lam)

    def bounds(self, X):
        theta, inverse = self.regression(1 / self.variances)
        return np.array([theta @ x + self.bernstein_radius() * np.sqrt(x @ inverse @ x) for x in X])

    def variance(self, x, k):
        theta, inverse = self.regression(np.ones(len(self.Y)))
        upper = min(theta @ x + self.hoeffding_radius() * np.sqrt(x @ inverse @ x), 1)
        return max(upper, 1 / k)

    def update(self, shown_rows, examined, clicks):
        k = len(shown_rows)
        self.K = max(self.K, k)
        seen = shown_rows[:examined]
        self.variances = np.append(self.variances, [self.variance(x, k) for x in seen])
        self.X = np.vstack([self.X, seen])
        self.Y = np.append(self.Y, [float(p in clicks) for p in range(examined)])
