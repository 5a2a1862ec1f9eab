"""UniCLUB of Li, Liu, Dai and Lui, ICLR 2025: uniform exploration, then CLUB."""

from __future__ import annotations

from itertools import combinations

import numpy as np


class UniCLUB:
    """For ``T0`` rounds lists are drawn at random; edges are deleted from the first round on."""

    def __init__(self, d, users, T0, alpha, beta, reg):
        self.d, self.T0, self.alpha, self.beta, self.reg = d, T0, alpha, beta, reg
        self.t = 0
        self.users = list(users)
        self.edges = {frozenset(pair) for pair in combinations(self.users, 2)}
        self.seen = {user: [] for user in self.users}  # pairs (x, y)
        self.margin = np.inf

    def explores(self):
        return self.t < self.T0

    def draw(self, n, k, uniforms):
        """k of n items, one after another, each of those left equally likely."""
        left = list(range(n))
        drawn = []
        for p in range(k):
            place = int(uniforms[p] * len(left))
            drawn.append(left[place])
            left[place] = left[0]  # the first of those left takes the free place
            left = left[1:]
        return drawn

    def component(self, user):
        """The users that are connected with one; somebody new is linked with all."""
        if user not in self.users:
            return set(self.users)
        found = {user}
        while True:
            more = {i for edge in self.edges if edge & found for i in edge} | found
            if more == found:
                return found
            found = more

    def estimate(self, users):
        """The ridge matrix and the weights of some users together."""
        M, b = self.reg * np.eye(self.d), np.zeros(self.d)
        for i in users:
            for x, y in self.seen[i]:
                M = M + np.outer(x, x)
                b = b + y * x
        return M, np.linalg.inv(M) @ b

    def bounds(self, user, X):
        M, theta = self.estimate(self.component(user))
        return np.array([x @ theta + self.beta * np.sqrt(x @ np.linalg.inv(M) @ x) for x in X])

    def update(self, user, shown_rows, examined, clicks):
        self.t += 1
        if user not in self.users:
            self.edges |= {frozenset((user, other)) for other in self.users}
            self.users.append(user)
            self.seen[user] = []
        for p in range(examined):
            self.seen[user].append((np.asarray(shown_rows[p], dtype=float), float(p in clicks)))
        self.margin = np.inf
        for edge in [edge for edge in self.edges if user in edge]:
            (other,) = edge - {user}
            distance = np.linalg.norm(self.estimate([user])[1] - self.estimate([other])[1])
            threshold = self.alpha * (self.F(user) + self.F(other))
            if 0 < threshold < np.inf:
                self.margin = min(self.margin, abs(distance - threshold))
            if distance >= threshold:
                self.edges.remove(edge)

    def F(self, user):
        T = len(self.seen[user])
        return np.sqrt((1 + np.log(1 + T)) / (1 + T))

    def clusters(self):
        return {frozenset(self.component(user)) for user in self.users}
