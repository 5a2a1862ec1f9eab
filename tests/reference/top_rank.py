"""TopRank of Lattimore, Kveton, Li and Szepesvari, 2018, Algorithm 1, line by line.

``(j, i) in G`` says that j is worse than i. ``items`` are all items of the catalogue: an item that
was not shown was not clicked.
"""

from __future__ import annotations

import math
from collections import Counter

C = 4 * math.sqrt(2 / math.pi) / math.erf(math.sqrt(2))


class TopRank:
    def __init__(self, delta):
        self.delta = delta
        self.G = set()
        self.S = Counter()
        self.N = Counter()

    def blocks(self, items):
        """Lines 3 to 7: the minimal elements of what is left, again and again."""
        left, blocks = set(items), []
        while left:
            least = {i for i in left if not any((i, j) in self.G for j in left)}
            blocks.append(least)
            left -= least
        return blocks

    def rank(self, items, k, uniforms):
        """Line 8: uniformly at random from the orders that respect the blocks.

        The order that random numbers in [0, 1) stand for, one for each position.
        """
        ranking = []
        for block in self.blocks(items):
            waiting = [i for i in items if i in block]
            while waiting and len(ranking) < k:
                place = int(uniforms[len(ranking)] * len(waiting))
                ranking.append(waiting[place])
                waiting[place] = waiting[0]
                waiting.pop(0)
        return ranking

    def update(self, items, clicked):
        """Lines 9 to 14."""
        clicks = {i: int(i in clicked) for i in items}
        for block in self.blocks(items):
            for i in block:
                for j in block:
                    U = clicks[i] - clicks[j]
                    self.S[i, j] += U
                    self.N[i, j] += abs(U)
        for (i, j), n in self.N.items():
            if n > 0 and self.S[i, j] >= math.sqrt(2 * n * math.log(C * math.sqrt(n) / self.delta)):
                self.G.add((j, i))
