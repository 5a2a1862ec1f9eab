"""Algorithm 1 (CLUB-cascade) of Li, "Online Clustering of Contextual Cascading Bandits", 2018.

Line numbers in the comments are those of the algorithm.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


class ClubCascade:
    """The printed algorithm, with users that may join late and lists with several clicks.

    ``edges`` is the initial graph, a set of frozensets of two users; None is the complete graph.
    ``variant="code2017"`` has the differences of the public code of 2017: another threshold, a
    constant 1 before every item, a bonus multiplied by a random number. From the discussion:
    ``schedule`` has pairs (updates, largest alpha after so many), and ``relax`` does it by hand.
    ``discounts`` are the position discounts of Li, Wang, Zhang and Chen 2016: the regression is on
    discounted items and discounted clicks.
    """

    def __init__(
        self,
        d,
        users,
        alpha=None,
        beta=1.0,
        reg=4.0,
        edges=None,
        variant="paper",
        schedule=(),
        discounts=(1.0,),
    ):
        self.variant = variant
        self.schedule, self.updates = schedule, 0
        self.discounts = discounts
        self.d = d + 1 if variant == "code2017" else d
        # line 1: input
        self.lam = reg
        self.beta = beta
        self.alpha = 8 * np.sqrt(d) if alpha is None else alpha
        # line 2: the graph, and no statistics
        self.users = []
        self.E = set()
        self.S, self.b, self.T, self.theta = {}, {}, {}, {}
        for user in users:
            self._add(user)
        if edges is None:
            self.E = {frozenset(pair) for pair in combinations(self.users, 2)}
        else:
            self.E = {frozenset(pair) for pair in edges}
        self.margin = np.inf  # how near the last round's tests of line 10 were to equality

    def _add(self, user):
        self.users.append(user)
        self.S[user] = np.zeros((self.d, self.d))
        self.b[user] = np.zeros(self.d)
        self.T[user] = 0
        self.theta[user] = np.zeros(self.d)

    def join(self, user, neighbours=None):
        """Let a user in: linked to everybody present, or to the given neighbours."""
        linked = list(self.users if neighbours is None else neighbours)
        self._add(user)
        for other in linked:
            self.E.add(frozenset((user, other)))

    def with_bias(self, X):
        X = np.asarray(X, dtype=float)
        if self.variant == "code2017":
            return np.hstack([np.ones((len(X), 1)), X])
        return X

    def component(self, user, neighbours=None):
        """Line 5: the connected component; of a user who has not joined, as if it had."""
        E = self.E
        if user not in self.S:
            linked = self.users if neighbours is None else neighbours
            E = E | {frozenset((user, other)) for other in linked}
        reached, frontier = {user}, [user]
        while frontier:
            i = frontier.pop()
            for edge in E:
                if i in edge:
                    (other,) = edge - {i}
                    if other not in reached:
                        reached.add(other)
                        frontier.append(other)
        return reached

    def cluster_weights(self, user, neighbours=None):
        M, b = self._sums(user, neighbours)
        return np.linalg.inv(M) @ b

    def _sums(self, user, neighbours):
        # line 5: M = lambda I + sum of S_i, b = sum of b_i over the component
        M = self.lam * np.eye(self.d)
        b = np.zeros(self.d)
        for i in self.component(user, neighbours):
            if i in self.S:
                M = M + self.S[i]
                b = b + self.b[i]
        return M, b

    def bounds(self, user, X, neighbours=None, uniforms=None):
        """Line 6 without the cap. ``luck``: the random numbers of the 2017 code, one per item."""
        M, b = self._sums(user, neighbours)
        M_inv = np.linalg.inv(M)
        theta = M_inv @ b
        U = np.empty(len(X))
        for index, x in enumerate(self.with_bias(X)):
            bonus = self.beta * np.sqrt(x @ M_inv @ x)
            if uniforms is not None:
                bonus = bonus * uniforms[index]
            U[index] = theta @ x + bonus
        return U

    def scores(self, user, X, neighbours=None, uniforms=None):
        """Line 6: U_t(x)."""
        return np.minimum(self.bounds(user, X, neighbours, uniforms), 1.0)

    def recommend(self, user, X, k, neighbours=None, uniforms=None):
        """Line 7: the k items of largest bound, ties to the lower index."""
        U = self.bounds(user, X, neighbours, uniforms)
        return sorted(range(len(U)), key=lambda index: (-U[index], index))[:k]

    def update(self, user, shown_rows, examined, clicks, neighbours=None):
        if user not in self.S:
            self.join(user, neighbours)
        X = self.with_bias(shown_rows)
        # line 8: the statistics of the user of this round; line 9: nobody else's
        for k in range(examined):
            gamma = self.discounts[k] if k < len(self.discounts) else self.discounts[-1]
            self.S[user] = self.S[user] + np.outer(gamma * X[k], gamma * X[k])
            if k in clicks:
                self.b[user] = self.b[user] + gamma * X[k] * gamma
        self.T[user] = self.T[user] + examined
        self.theta[user] = self.weigh(user)
        # line 10: delete edges of the user
        self.margin = np.inf
        for edge in list(self.E):
            if user not in edge:
                continue
            (other,) = edge - {user}
            distance = np.linalg.norm(self.theta[user] - self.theta[other])
            threshold = self.alpha * (self.radius(self.T[user]) + self.radius(self.T[other]))
            if 0 < threshold < np.inf:  # at 0 and infinity there is no doubt
                self.margin = min(self.margin, abs(distance - threshold))
            if distance >= threshold:
                self.E.remove(edge)
        # from the next update on, alpha may be smaller
        self.updates += 1
        for updates, alpha in self.schedule:
            if self.updates >= updates:
                self.relax(alpha)

    def relax(self, alpha):
        """Discussion: the parameter "can be changed smaller ... without the need to restart"."""
        self.alpha = min(self.alpha, alpha)

    def weigh(self, user):
        return np.linalg.inv(self.lam * np.eye(self.d) + self.S[user]) @ self.b[user]

    def radius(self, T):
        if self.variant == "code2017":
            return np.sqrt(1 + np.log(1 + T)) / (1 + T)
        return np.sqrt((1 + np.log(1 + T)) / (1 + T))

    def clusters(self):
        """All connected components, as a set of frozensets of users."""
        return {frozenset(self.component(user)) for user in self.users}
