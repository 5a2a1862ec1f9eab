"""Memory of items, word for word: a list of records per user, normal distributions in full.

The constants are those of the kernel; everything else is written down a second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from clubcascade.kernels import item_memory as constants


@dataclass
class Record:
    """What one user did with one item."""

    item: tuple[float, ...]
    clicks: list[float]
    last: int = 0


@cache
def inverse_sums(n, share):
    """Row sums of the inverse covariance of n observations of one pair around what is expected.

    Their variance is the unit.
    """
    return np.linalg.pinv(share * np.ones((n, n)) + (1 - share) * np.eye(n)).sum(axis=0)


class ItemMemory:
    """The records of all users, and the share of the unexplained that stays."""

    def __init__(self, size, logistic=False, scales=None, forget=None):
        self.size, self.logistic, self.forget = size, logistic, forget
        self.scales = not logistic if scales is None else scales
        self.records, self.lists, self.n_lists = {}, {}, 0
        self.share, self.evaluated = 0.0, 0.0
        self.errors = np.zeros(len(constants.SHARES))

    # -- one pair -----------------------------------------------------------------------------

    def expected(self, record, before, share):
        """The next click given the clicks so far, if ``before`` was expected without them."""
        clicks = np.array(record.clicks)
        weights = share * inverse_sums(len(clicks), share)
        return before + weights @ (clicks - before)

    def shrinkage(self, record):
        n = len(record.clicks)
        return self.share * inverse_sums(n, self.share).sum()

    def information(self, n, share):
        """How much n observations of a pair tell of the weights, in observations."""
        return inverse_sums(n, share).sum() if n else 0.0

    def added(self, record):
        n = len(record.clicks)
        return max(self.information(n + 1, self.share) - self.information(n, self.share), 0.0)

    def blended(self, record, score):
        mean = np.mean(record.clicks)
        if self.share == 1 and mean in (0, 1):
            sure = constants.SURE if mean == 1 else -constants.SURE
        else:
            sure = 0.0
        if self.logistic:
            edge = math.exp(-constants.LARGEST_LOGIT)
            mean = np.clip(mean, edge, 1 - edge)
            mean = math.log(mean / (1 - mean))
        else:
            score = min(score, 1.0)
        return score + self.shrinkage(record) * (mean - score) + sure

    # -- all pairs ----------------------------------------------------------------------------

    def find(self, user, item):
        wanted = tuple((item + 0.0).tolist())
        if not any(wanted):
            return None
        return next((r for r in self.records.get(user, []) if r.item == wanted), None)

    def recalled(self, user, items):
        """The record of each of the rows that the user has met, as many as fit."""
        if self.share == 0:
            return {}
        found = {}
        for record in self.records.get(user, []):
            for row in range(len(items)):
                if tuple((items[row] + 0.0).tolist()) == record.item and len(found) < self.size:
                    found[row] = record
        return found

    def learn(self, user, X, y, expected):
        """Remember a list; return the observations that are left for the policy to learn."""
        if self.size == 0:
            return X, y
        self.lists[user] = self.lists.get(user, 0) + 1
        if self.forget and self.lists[user] % self.forget == 0:
            self.halve(user)
        due = self.evaluated < constants.EVALUATED_FULLY
        due = due or self.n_lists % constants.EVALUATED_EVERY == 0
        self.n_lists += 1
        weights, repeated = [], 0
        for x, click, guess in zip(X, y, expected, strict=True):
            record = self.find(user, x)
            if record is not None and due and record.last < self.lists[user]:
                self.evaluate(record, guess, click)
                repeated += 1
            weights.append(self.weight(record))
            if x.any():
                self.remember(user, record, x, click)
        share = self.share
        if repeated:
            self.share = self.select()
        if share == 0:
            return X, y
        weights = np.array(weights)
        kept = weights > constants.LEAST_WEIGHT
        root = np.sqrt(weights[kept])
        return root[:, None] * X[kept], root * y[kept]

    def halve(self, user):
        """Half of the observations of each record stay, and half of the clicks."""
        kept = []
        for record in self.records.get(user, []):
            n, rate = len(record.clicks) // 2, np.mean(record.clicks)
            clicks = math.floor(n * rate + 0.5 + 1e-9)
            if 0 < rate < 1:
                clicks = min(max(clicks, 1), n - 1)
            record.clicks = [1.0] * clicks + [0.0] * (n - clicks)
            kept += [record] if n > (0 < rate < 1) else []
        self.records[user] = kept

    def weight(self, record):
        if record is None:
            return 1.0
        if self.scales:
            return self.added(record)
        n = len(record.clicks)
        now, then = (round(self.information(m, self.share), 9) for m in (n + 1, n))
        return float(math.floor(now + 0.5) > math.floor(then + 0.5))

    def remember(self, user, record, x, click):
        if record is None:
            record = Record(tuple((x + 0.0).tolist()), [])
            known = self.records.setdefault(user, [])
            if len(known) < self.size:
                known.append(record)
            else:
                known[min(range(self.size), key=lambda slot: known[slot].last)] = record
        record.clicks.append(click)
        record.last = self.lists[user]

    def evaluate(self, record, guess, click):
        before = min(max(guess, 0.0), 1.0)
        fade = 1 - 1 / constants.WINDOW
        for i, share in enumerate(constants.SHARES):
            error = (click - self.expected(record, before, share)) ** 2
            self.errors[i] = fade * self.errors[i] + error
        self.evaluated = fade * self.evaluated + 1

    def select(self):
        best = 0
        for i in range(1, len(constants.SHARES)):
            needed = (1 - constants.MARGIN) * self.errors[best] - (best == 0) * constants.LEAD
            if self.errors[i] < needed:
                best = i
        return float(constants.SHARES[best])
