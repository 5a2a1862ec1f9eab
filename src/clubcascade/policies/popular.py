"""Popular: the items that most users click, the same list for everybody."""

from collections.abc import Iterator
from typing import Self

from clubcascade import validation
from clubcascade.kernels.counting import POPULARITY
from clubcascade.learners.item_counts import ItemCounts
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._item_counts import ItemCountsMixin


class Popular(ItemCountsMixin, CompiledPolicy):
    """Show the items of the highest click rate among all users: the popular list, without bonus.

    The rate of an item is smoothed: it counts ``prior_count`` observations at the click rate of all
    items beforehand, so that an item never looked at is an average one. Ties go to the lower row.
    Takes a :class:`clubcascade.Catalog` only: items are known by id.

    Parameters
    ----------
    prior_count
        How many observations of an average item each item has beforehand.

    Examples
    --------
    >>> import numpy as np
    >>> from clubcascade import Catalog
    >>> catalog = Catalog(np.eye(3))
    >>> policy = Popular(prior_count=2.0)
    >>> policy.update("alice", catalog[[0, 2]], click=1)
    >>> policy.recommend("bob", catalog, k=3)
    array([2, 1, 0])
    >>> policy.scores("bob", catalog).round(3)
    array([0.333, 0.5  , 0.667])
    """

    n_features = None

    def __init__(self, *, prior_count: float = 4.0) -> None:
        self.prior_count = validation.ridge("prior_count", prior_count)
        super().__init__(ItemCounts(POPULARITY, self.prior_count))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(prior_count=3.0)
