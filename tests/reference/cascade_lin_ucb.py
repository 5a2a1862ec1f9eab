"""CascadeLinUCB of Zong et al., "Cascading Bandits for Large-Scale Recommendation", 2016."""

from __future__ import annotations

import numpy as np


class CascadeLinUCB:
    """M = I + sigma^-2 sum x x', B = sum of clicked x, theta = sigma^-2 M^-1 B."""

    def __init__(self, d, sigma=1.0, c=1.0):
        self.sigma, self.c = sigma, c
        self.M = np.eye(d)
        self.B = np.zeros(d)

    def theta(self):
        return self.sigma**-2 * np.linalg.inv(self.M) @ self.B

    def bounds(self, X):
        M_inv = np.linalg.inv(self.M)
        return np.array([x @ self.theta() + self.c * np.sqrt(x @ M_inv @ x) for x in X])

    def scores(self, X):
        return np.minimum(self.bounds(X), 1.0)

    def update(self, shown_rows, examined, clicks):
        for k in range(examined):
            x = shown_rows[k]
            self.M = self.M + self.sigma**-2 * np.outer(x, x)
            if k in clicks:
                self.B = self.B + x
