"""C3-UCB of Li, Wang, Zhang and Chen, "Contextual Combinatorial Cascading Bandits", 2016, Alg. 1.

Binary OR reward. ``discounts`` are its gamma_1 >= gamma_2 >= ..., one per position. The paper sets
beta_0 = 1 before the first feedback; here its formula is used from the start, which ranks the same.
"""

from __future__ import annotations

import numpy as np


class C3UCB:
    """``beta`` is a constant, or None for the paper's growing confidence radius."""

    def __init__(self, d, beta=None, reg=4.0, delta=0.05, noise=0.5, discounts=(1.0,)):
        self.discounts = discounts
        self.d, self.lam, self.delta, self.R = d, reg, delta, noise
        self.constant = beta
        self.X = np.zeros((0, d))  # all items looked at, one per row, discounted
        self.Y = np.zeros(0)  # 1 for a click, discounted

    def V(self):
        return self.lam * np.eye(self.d) + self.X.T @ self.X

    def theta(self):
        return np.linalg.solve(self.V(), self.X.T @ self.Y)

    def beta(self):
        if self.constant is not None:
            return self.constant
        ratio = np.linalg.det(self.V()) / (self.lam**self.d * self.delta**2)
        return self.R * np.sqrt(np.log(ratio)) + np.sqrt(self.lam)

    def bounds(self, X):
        V_inv = np.linalg.inv(self.V())
        return np.array([self.theta() @ x + self.beta() * np.sqrt(x @ V_inv @ x) for x in X])

    def scores(self, X):
        return np.minimum(self.bounds(X), 1.0)

    def update(self, shown_rows, examined, clicks):
        for k in range(examined):
            gamma = self.discounts[k] if k < len(self.discounts) else self.discounts[-1]
            self.X = np.vstack([self.X, gamma * shown_rows[k]])
            self.Y = np.append(self.Y, gamma if k in clicks else 0.0)
