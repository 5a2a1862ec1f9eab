"""The estimators of ``clubcascade.evaluation``, slow and literal."""

import math

import numpy as np
from scipy.integrate import quad


def clustered_ratio(lists):
    """Ratio of sums of (user, y, x), and its cluster-robust variance, by loops over users."""
    users = sorted({user for user, _, _ in lists}, key=str)
    y = {u: sum(b for a, b, _ in lists if a == u) for u in users}
    x = {u: sum(c for a, _, c in lists if a == u) for u in users}
    total = sum(x.values())
    ratio = sum(y.values()) / total
    squares = sum((y[u] - ratio * x[u]) ** 2 for u in users)
    return ratio, squares / total**2 * len(users) / (len(users) - 1)


def mixture(score, information, precision):
    """Integrate the likelihood ratio of a drift over a Gaussian of that precision."""
    middle = score / (information + precision)
    width = 12 / math.sqrt(information + precision)

    def density(drift):
        ratio = drift * score - drift**2 * information / 2
        return math.exp(ratio - precision * drift**2 / 2) * math.sqrt(precision / (2 * math.pi))

    return quad(density, middle - width, middle + width, limit=200)[0]


def cascade_value(theta, ranking):
    """Probability of a click on a list, place by place."""
    value, alive = 0.0, 1.0
    for item in ranking:
        value += alive * theta[item]
        alive *= 1 - theta[item]
    return value


def prefix_weight(shown, drawn, own, j):
    """Weight of the first j places: the policy's share over the logger's, from redrawn lists."""
    matches = sum(list(d[:j]) == list(shown[:j]) for d in drawn)
    wanted = sum(list(d[:j]) == list(shown[:j]) for d in own) / len(own)
    return wanted * (len(drawn) + 1) / (1 + matches)


def cascade_dr(theta, shown, click, drawn, own):
    """Doubly robust value of one list by backward recursion (Jiang and Li 2016), place by place.

    ``own`` must be one list drawn of the evaluated policy, or several: then the mean over them.
    """
    found = []
    for ranking in own:
        value = 0.0
        for j in reversed(range(len(shown))):
            model = cascade_value(theta, ranking[j:])
            seen = click is None or j <= click
            if not seen or list(ranking[: j + 1]) != list(shown[: j + 1]):
                value = model
                continue
            step = prefix_weight(shown, drawn, [ranking], j + 1)
            step /= prefix_weight(shown, drawn, [ranking], j) if j else 1.0
            reward = 1.0 if j == click else 0.0
            after = 0.0 if reward else value
            rest = cascade_value(theta, ranking[j + 1 :])
            expected = theta[shown[j]] + (1 - theta[shown[j]]) * rest
            value = model + step * (reward + after - expected)
        found.append(value)
    return float(np.mean(found))


def item_wise_dr(theta, shown, click, drawn, own):
    """Model value plus one-step corrections, item by item."""
    m = len(drawn)

    def examination(item):
        p = 0.0
        for d in drawn:
            alive = 1.0
            for other in d:
                if other == item:
                    p += alive / m
                alive *= 1 - theta[other]
        return max(p, 1 / (m + 1))

    found = []
    for ranking in own:
        value = cascade_value(theta, ranking)
        for item in ranking:
            places = [j for j, s in enumerate(shown) if s == item]
            if places and (click is None or places[0] <= click):
                reward = 1.0 if places[0] == click else 0.0
                others = math.prod(1 - theta[o] for o in ranking if o != item)
                value += others * (reward - theta[item]) / examination(item)
        found.append(value)
    return float(np.mean(found))
