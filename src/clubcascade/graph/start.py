"""How the users' graph starts: complete, as Algorithm 1 prints it, or random and sparse.

A start says with which earlier users user ``i`` is linked when it joins; users known beforehand
are users who join one after the other before the first round.
"""

from typing import Protocol

import numpy as np

from clubcascade.core import Ints
from clubcascade.errors import InvalidArgument
from clubcascade.kernels import erdos_renyi

MAX_COMPLETE = 32_768
"""Users that a complete start may have: their edges take 128 MiB of bits."""


class Start(Protocol):
    """The edges that a user brings along."""

    dense: bool

    def links(self, i: int) -> Ints:
        """Return the users below ``i`` that user ``i`` is linked with, rising."""

    def check(self, n: int) -> None:
        """Raise if a graph of ``n`` users is too much for this start."""


class Complete:
    """Everyone is linked with everyone."""

    dense = True

    def links(self, i: int) -> Ints:
        return np.arange(i, dtype=np.intp)

    def check(self, n: int) -> None:
        """Refuse more users than bits can reasonably hold."""
        if n > MAX_COMPLETE:
            raise InvalidArgument(
                f"a complete start holds at most {MAX_COMPLETE} users, got {n}; "
                f'use the sparse one: start="random", edge_probability={20 / n:.2g}'
            )


class ErdosRenyi:
    """Each pair of users is linked with probability ``p``, independently of the others."""

    dense = False

    def __init__(self, p: float, key: int) -> None:
        self.p = p
        self.key = np.uint64(key)

    def links(self, i: int) -> Ints:
        found: Ints = erdos_renyi.neighbours_of(self.key, i, self.p)
        return found

    def check(self, n: int) -> None:
        """Accept any number of users."""
