"""CascadeKL-UCB of Kveton et al., "Cascading Bandits: Learning to Rank in the Cascade Model", 2015.

The bound of an item is the largest q in [w, 1] with ``s KL(w, q) <= ln t + 3 ln ln t``, where t is
the number of the round that is to be decided, one more than the rounds learned from. In round 2
the right side would be negative and no q would do: there ``ln ln t`` counts as 0. An item that was
never looked at has the bound infinity; the paper looks at every item once before it starts.
"""

from __future__ import annotations

import math

import numpy as np


def divergence(p, q):
    """Kullback-Leibler divergence of two Bernoulli variables."""
    total = 0.0
    if p > 0:
        total += p * math.log(p / q)
    if p < 1:
        total += (1 - p) * math.log((1 - p) / (1 - q)) if q < 1 else math.inf
    return total


def largest(w, budget):
    """The largest q in [w, 1] with KL(w, q) <= budget, by bisection."""
    if w == 1:
        return 1.0
    low, high = w, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if divergence(w, middle) <= budget:
            low = middle
        else:
            high = middle
    return low


class CascadeKLUCB:
    def __init__(self, n_items):
        self.rounds = 0
        self.looks = [0] * n_items
        self.clicks = [0] * n_items

    def bound(self, item):
        s = self.looks[item]
        if s == 0:
            return math.inf
        t = self.rounds + 1
        right = math.log(t)
        if t > 2:
            right += 3 * math.log(math.log(t))
        return largest(self.clicks[item] / s, right / s)

    def bounds(self):
        return np.array([self.bound(item) for item in range(len(self.looks))])

    def scores(self):
        return np.minimum(self.bounds(), 1.0)

    def update(self, shown_items, examined, clicks):
        self.rounds += 1
        for k in range(examined):
            self.looks[shown_items[k]] += 1
            if k in clicks:
                self.clicks[shown_items[k]] += 1
