"""CascadeKL-UCB: counts per item, Kullback-Leibler confidence bounds."""

from collections.abc import Iterator
from typing import Self

from clubcascade.kernels.counting import KL_UCB
from clubcascade.learners.item_counts import ItemCounts
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._item_counts import ItemCountsMixin


class CascadeKLUCB(ItemCountsMixin, CompiledPolicy):
    """CascadeKL-UCB: the largest q with ``n KL(rate, q) <= ln t + 3 ln ln t`` per item.

    t is the round and n the number of observations of the item. All users share the counts. An item
    never examined comes first. Takes a :class:`clubcascade.Catalog` only: items are known by id.

    References
    ----------
    Kveton, Szepesvári, Wen and Ashkan, "Cascading bandits: learning to rank in the cascade
    model", ICML 2015, Algorithm 1 with Equation (5).

    Examples
    --------
    >>> import numpy as np
    >>> from clubcascade import Catalog
    >>> catalog = Catalog(np.eye(3))
    >>> policy = CascadeKLUCB()
    >>> policy.update("alice", catalog[[2, 0]], click=0)
    >>> policy.recommend("alice", catalog, k=3)
    array([0, 1, 2])
    """

    n_features = None

    def __init__(self) -> None:
        super().__init__(ItemCounts(KL_UCB))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
