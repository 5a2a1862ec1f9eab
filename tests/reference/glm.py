"""Equation (8) of Li 2018 with a penalty, over raw samples, by SciPy; and models made from it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import root
from scipy.special import expit, ndtr

LINKS = {
    "identity": (lambda z: z, lambda z: np.ones_like(z)),
    "logistic": (expit, lambda z: expit(z) * expit(-z)),
    "probit": (ndtr, lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)),
}
LARGEST_SLOPE = {"identity": 1.0, "logistic": 0.25, "probit": 1 / np.sqrt(2 * np.pi)}


def estimate(X, y, link, penalty):
    """The solution of ``penalty theta + sum (mu(theta . x) - y) x = 0``."""
    mu, slope = LINKS[link]
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    d = X.shape[1]

    def left(theta):
        return penalty * theta + (mu(X @ theta) - y) @ X

    def derivative(theta):
        return penalty * np.eye(d) + (X.T * slope(X @ theta)) @ X

    theta = np.zeros(d)
    for method in ("hybr", "lm"):
        found = root(left, theta, jac=derivative, method=method, options={"xtol": 1e-14})
        theta = found.x
        if np.abs(left(theta)).max() < 1e-10 * (1 + len(X)):
            break
    for _ in range(3):  # from there, Newton's own steps polish the last digits
        theta = theta - np.linalg.solve(derivative(theta), left(theta))
    assert np.abs(left(theta)).max() < 1e-9 * (1 + len(X))
    return theta


class Samples:
    """The raw samples of one set of users."""

    def __init__(self, d):
        self.X, self.y = np.zeros((0, d)), np.zeros(0)

    def add(self, rows, examined, clicks):
        for k in range(examined):
            self.X = np.vstack([self.X, rows[k]])
            self.y = np.append(self.y, float(k in clicks))


class GroupedGLM:
    """A model per group of users; ``group_of`` says which one a user has."""

    def __init__(self, d, group_of, link="logistic", beta=1.0, reg=4.0, penalty=None):
        self.d, self.group_of, self.link, self.beta, self.lam = d, group_of, link, beta, reg
        self.penalty = LARGEST_SLOPE[link] * reg if penalty is None else penalty
        self.samples = {}

    def of(self, user):
        return self.samples.get(self.group_of(user), Samples(self.d))

    def theta(self, user):
        known = self.of(user)
        return estimate(known.X, known.y, self.link, self.penalty)

    def bounds(self, user, X):
        known = self.of(user)
        M_inv = np.linalg.inv(self.lam * np.eye(self.d) + known.X.T @ known.X)
        theta = self.theta(user)
        return np.array([theta @ x + self.beta * np.sqrt(x @ M_inv @ x) for x in X])

    def scores(self, user, X):
        return np.minimum(LINKS[self.link][0](self.bounds(user, X)), 1.0)

    def update(self, user, rows, examined, clicks):
        group = self.samples.setdefault(self.group_of(user), Samples(self.d))
        group.add(rows, examined, clicks)
