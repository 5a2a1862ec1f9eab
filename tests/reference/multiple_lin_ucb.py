"""MultipleLinUCB: every user is a cluster of one (Li 2018, section "Other comparisons")."""

from __future__ import annotations

import numpy as np


class MultipleLinUCB:
    """A ridge model per user; a user who has not been met has one without data."""

    def __init__(self, d, beta=1.0, reg=4.0):
        self.d, self.beta, self.lam = d, beta, reg
        self.S, self.b, self.T = {}, {}, {}

    def model(self, user):
        S = self.S.get(user, np.zeros((self.d, self.d)))
        b = self.b.get(user, np.zeros(self.d))
        return S, b, self.T.get(user, 0)

    def theta(self, user):
        S, b, _ = self.model(user)
        return np.linalg.solve(self.lam * np.eye(self.d) + S, b)

    def bounds(self, user, X):
        S, _, _ = self.model(user)
        M_inv = np.linalg.inv(self.lam * np.eye(self.d) + S)
        theta = self.theta(user)
        return np.array([theta @ x + self.beta * np.sqrt(x @ M_inv @ x) for x in X])

    def scores(self, user, X):
        return np.minimum(self.bounds(user, X), 1.0)

    def update(self, user, shown_rows, examined, clicks):
        S, b, T = self.model(user)
        for k in range(examined):
            S = S + np.outer(shown_rows[k], shown_rows[k])
            if k in clicks:
                b = b + shown_rows[k]
        self.S[user], self.b[user], self.T[user] = S, b, T + examined
