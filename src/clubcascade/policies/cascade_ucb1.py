"""CascadeUCB1: counts per item, no features."""

from collections.abc import Iterator
from typing import Self

from clubcascade.kernels.counting import UCB1
from clubcascade.learners.item_counts import ItemCounts
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._item_counts import ItemCountsMixin


class CascadeUCB1(ItemCountsMixin, CompiledPolicy):
    """CascadeUCB1: click rate plus ``sqrt(1.5 ln t / n)`` per item of a catalogue.

    t is the round and n the number of observations of the item. All users share the counts. An item
    never examined comes first (the paper assumes one observation of each item before the start).
    Takes a :class:`clubcascade.Catalog` only: items are known by id.

    References
    ----------
    Kveton, Szepesvári, Wen and Ashkan, "Cascading bandits: learning to rank in the cascade
    model", ICML 2015, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from clubcascade import Catalog
    >>> catalog = Catalog(np.eye(3))
    >>> policy = CascadeUCB1()
    >>> policy.update("alice", catalog[[2, 0]], click=0)
    >>> policy.recommend("alice", catalog, k=3)
    array([0, 1, 2])
    """

    n_features = None

    def __init__(self) -> None:
        super().__init__(ItemCounts(UCB1))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
