"""SCLUB: Algorithms 1 to 4 of Li, Chen, Li and Leung, IJCAI 2019, with lists instead of items.

Nothing is kept of a cluster but its users: its sums are added up whenever they are needed.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def F(T):
    return np.sqrt((1 + np.log(1 + T)) / (1 + T))


class SCLUB:
    """``C`` has the users of every cluster by its index; users who come late go to the first."""

    def __init__(self, d, users, alpha_theta, alpha_p, beta, reg):
        self.d, self.reg, self.beta = d, reg, beta
        self.alpha_theta, self.alpha_p = alpha_theta, alpha_p
        # Algorithm 1, lines 2 and 3: no statistics, one cluster of all users
        self.S, self.b, self.T, self.rounds = {}, {}, {}, {}
        self.C = {0: set()}
        for user in users:
            self.join(user)
        self.tau = self.s = 0
        self.checked = set()
        self.pivot = {}  # of every cluster: weights and T at the start of the phase
        self.splits = self.merges = 0
        self.margin = np.inf  # how near the last round's tests were to equality

    def join(self, user):
        self.S[user] = np.zeros((self.d, self.d))
        self.b[user] = np.zeros(self.d)
        self.T[user] = self.rounds[user] = 0
        self.C[0].add(user)

    def j(self, user):
        """The index of the cluster of a user."""
        return next((j for j, users in self.C.items() if user in users), 0)

    def sums(self, users):
        """The matrix with the ridge term inside, the moment, and the count of some users."""
        S = self.reg * np.eye(self.d) + sum((self.S[i] for i in users), np.zeros((self.d, self.d)))
        return S, sum((self.b[i] for i in users), np.zeros(self.d)), sum(self.T[i] for i in users)

    def theta(self, users):
        S, b, _ = self.sums(users)
        return np.linalg.inv(S) @ b

    def count(self, users):
        return self.sums(users)[2]

    def bounds(self, user, X):
        """Algorithm 1, line 11, without the maximum."""
        S, b, _ = self.sums(self.C[self.j(user)])
        S_inv = np.linalg.inv(S)
        return np.array([x @ S_inv @ b + self.beta * np.sqrt(x @ S_inv @ x) for x in X])

    def update(self, user, shown_rows, examined, clicks):
        self.margin = np.inf
        if user not in self.S:
            self.join(user)
        if self.tau == 2 ** (self.s + 1) - 2:  # phases 1 to s are over: lines 4 to 6
            self.s += 1
            self.checked = set()
            self.pivot = {j: (self.theta(C), self.count(C)) for j, C in self.C.items()}
        self.tau += 1  # line 8
        # line 13 and Algorithm 2
        for p in range(examined):
            x = np.asarray(shown_rows[p], dtype=float)
            self.S[user] = self.S[user] + np.outer(x, x)
            self.b[user] = self.b[user] + float(p in clicks) * x
            self.T[user] += 1
        self.rounds[user] += 1
        self.split(user)  # line 14
        self.checked.add(user)  # line 15
        while self.merge():  # line 16
            pass

    def p(self, user):
        """The frequency of a user."""
        return self.rounds[user] / self.tau

    def p_mean(self, users):
        return np.mean([self.p(i) for i in users])

    def excess(self, value, threshold):
        """By how much a value is above its threshold."""
        if threshold < np.inf:
            self.margin = min(self.margin, abs(value - threshold))
        return value - threshold

    def split(self, user):
        """Algorithm 3."""
        j = self.j(user)
        if self.C[j] == {user}:
            return
        theta, T = self.pivot[j]
        distance = np.linalg.norm(self.theta({user}) - theta)
        most = self.excess(distance, self.alpha_theta * (F(self.T[user]) + F(T)))
        for other in self.C[j] - {user}:
            gap = abs(self.p(user) - self.p(other))
            most = max(most, self.excess(gap, 2 * self.alpha_p * F(self.tau)))
        if most > 0:
            new = next(j for j in range(len(self.C) + 1) if j not in self.C)
            self.C[j].remove(user)
            self.C[new] = {user}
            self.pivot[new] = self.theta({user}), self.T[user]
            self.splits += 1

    def merge(self):
        """Algorithm 4 for one pair: the first that is close."""
        for j1, j2 in combinations(sorted(self.C), 2):
            C1, C2 = self.C[j1], self.C[j2]
            if not (C1 | C2) <= self.checked:
                continue
            distance = np.linalg.norm(self.theta(C1) - self.theta(C2))
            threshold = self.alpha_theta / 2 * (F(self.count(C1)) + F(self.count(C2)))
            gap = abs(self.p_mean(C1) - self.p_mean(C2))
            excess = self.excess(distance, threshold), self.excess(gap, self.alpha_p * F(self.tau))
            if max(excess) < 0:
                self.C[j1] = C1 | C2
                del self.C[j2]
                self.merges += 1
                return True
        return False

    def clusters(self):
        return {frozenset(users) for users in self.C.values() if users}
