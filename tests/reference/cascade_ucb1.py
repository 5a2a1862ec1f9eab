"""CascadeUCB1 of Kveton et al., "Cascading Bandits: Learning to Rank in the Cascade Model", 2015.

The bound of an item is ``w + sqrt(1.5 ln t / s)``, where t is the number of the round that is to be
decided, one more than the rounds learned from. The paper looks at every item once before its
first round and counts from there (its radius is c_{t-1, s}); here there is no such round, and an
item that was never looked at has the bound infinity.
"""

from __future__ import annotations

import math

import numpy as np


class CascadeUCB1:
    def __init__(self, n_items):
        self.rounds = 0
        self.looks = [0] * n_items
        self.clicks = [0] * n_items

    def bound(self, item):
        s = self.looks[item]
        if s == 0:
            return math.inf
        t = self.rounds + 1
        return self.clicks[item] / s + math.sqrt(1.5 * math.log(t) / s)

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
