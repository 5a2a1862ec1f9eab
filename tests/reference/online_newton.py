"""The one-pass estimator, literally: a minimisation per sample, and a parabola left behind.

A sample (x, y) moves the weights to ``argmin |theta - last|^2_H / 2 + loss(theta . x)``, where H is
the penalty and the second derivatives so far; then H grows by the sample's second derivative at the
new weights. The loss is from now on its parabola there, so that losses of two sets can be added.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from tests.reference.club_cascade_glm import ClubCascadeGLM
from tests.reference.glm import LINKS, GroupedGLM


class OnePass:
    """The loss of the past, ``theta' A theta / 2 - c . theta``, and its weights."""

    def __init__(self, d, link, penalty):
        self.link, self.penalty = link, penalty
        self.A, self.c = np.zeros((d, d)), np.zeros(d)
        self.theta = np.zeros(d)

    def see(self, x, y):
        mu, slope = LINKS[self.link]
        H, last = self.penalty * np.eye(len(x)) + self.A, self.theta

        def left(theta):
            return H @ (theta - last) + (mu(theta @ x) - y) * x

        def derivative(theta):
            return H + slope(theta @ x) * np.outer(x, x)

        theta = root(left, last, jac=derivative, options={"xtol": 1e-14}).x
        for _ in range(3):
            theta = theta - np.linalg.solve(derivative(theta), left(theta))
        assert np.abs(left(theta)).max() < 1e-10
        z = theta @ x
        # the parabola with the sample's slope and second derivative at z
        self.A = self.A + slope(z) * np.outer(x, x)
        self.c = self.c + (slope(z) * z + y - mu(z)) * x
        self.theta = theta

    def see_all(self, rows, examined, clicks):
        for k in range(examined):
            self.see(rows[k], float(k in clicks))


def total(parts, d, link, penalty):
    """The loss of several sets of samples, and the weights where it is least."""
    whole = OnePass(d, link, penalty)
    for part in parts:
        whole.A, whole.c = whole.A + part.A, whole.c + part.c
    whole.theta = np.linalg.solve(penalty * np.eye(d) + whole.A, whole.c)
    return whole


class GroupedOnePass(GroupedGLM):
    """A model per group of users, each of one pass."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fits = {}

    def fit(self, user):
        return self.fits.get(self.group_of(user), OnePass(self.d, self.link, self.penalty))

    def theta(self, user):
        return self.fit(user).theta

    def update(self, user, rows, examined, clicks):
        super().update(user, rows, examined, clicks)
        fit = self.fits[self.group_of(user)] = self.fit(user)
        fit.see_all(rows, examined, clicks)


class ClubCascadeOnePass(ClubCascadeGLM):
    """Algorithm 1 with an estimate of one pass per component and per user.

    A component's model sees the samples of its users as they come. What a split leaves is the sum
    of its users' losses, and what a newcomer joins together the sum of the components' ones.
    """

    def _add(self, user):
        super()._add(user)
        self.own = getattr(self, "own", {})
        self.own[user] = self._empty()

    def _empty(self):
        return OnePass(self.d, self.link, self.penalty)

    @property
    def models(self):
        if not hasattr(self, "known_models"):
            self.known_models = {part: self._empty() for part in self.clusters()}
        return self.known_models

    def cluster_weights(self, user, neighbours=None):
        reached = self.component(user, neighbours)
        parts = [fit for part, fit in self.models.items() if part <= reached]
        if len(parts) == 1:
            return parts[0].theta
        return total(parts, self.d, self.link, self.penalty).theta

    def weigh(self, user):
        return self.own[user].theta

    def join(self, user, neighbours=None):
        models = self.models
        super().join(user, neighbours)
        home = frozenset(self.component(user))
        parts = [models.pop(part) for part in list(models) if part <= home]
        one = len(parts) == 1
        models[home] = parts[0] if one else total(parts, self.d, self.link, self.penalty)

    def update(self, user, shown_rows, examined, clicks, neighbours=None):
        models = self.models
        if user not in self.samples:
            self.join(user, neighbours)
        home = frozenset(self.component(user))
        self.own[user].see_all(shown_rows, examined, clicks)
        models[home].see_all(shown_rows, examined, clicks)
        super().update(user, shown_rows, examined, clicks, neighbours)
        pieces = {frozenset(self.component(member)) for member in home}
        if len(pieces) > 1:
            del models[home]
            for piece in pieces:
                own = [self.own[member] for member in piece]
                models[piece] = total(own, self.d, self.link, self.penalty)
