"""CascadeLinTS of Zong et al., "Cascading Bandits for Large-Scale Recommendation", 2016."""

from __future__ import annotations

import numpy as np


class CascadeLinTS:
    """The weights are drawn from N(theta, M^-1), M = I + sigma^-2 sum x x'."""

    def __init__(self, d, sigma=1.0):
        self.sigma = sigma
        self.M = np.eye(d)
        self.B = np.zeros(d)

    def theta(self):
        return self.sigma**-2 * np.linalg.inv(self.M) @ self.B

    def draw(self, z):
        """The weights that a standard normal vector ``z`` stands for: M = L L', theta + L^-T z."""
        L = np.linalg.cholesky(self.M)
        return self.theta() + np.linalg.inv(L).T @ z

    def bounds(self, X, z):
        return np.array([x @ self.draw(z) for x in X])

    def update(self, shown_rows, examined, clicks):
        for k in range(examined):
            x = shown_rows[k]
            self.M = self.M + self.sigma**-2 * np.outer(x, x)
            if k in clicks:
                self.B = self.B + x
