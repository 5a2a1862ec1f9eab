"""Known clusters: one linear model per true cluster."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.errors import InvalidArgument, UnknownUser
from clubcascade.model_file import check_ids
from clubcascade.policies._grouped import GroupedPolicy

_SAVED = (list, tuple, set, frozenset, range, np.ndarray)
"""Collections of users that a file can keep."""


class KnownClusters(GroupedPolicy):
    """A linear model per cluster of a partition that is given: what perfect clustering would do.

    Parameters
    ----------
    n_features
        Number of features of an item.
    partition
        The clusters as a list of sets of users, a mapping user -> label, or an array with the
        label of users 0, 1, ...
    beta
        Exploration constant.
    reg
        Ridge constant.
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the
        end have the last one's. What is seen at position p then weighs ``discounts[p] ** 2``. By
        default all are 1.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions": with known
    clusters the problem is m independent linear cascading bandits.

    Examples
    --------
    >>> import numpy as np
    >>> policy = KnownClusters(n_features=2, partition=[{"alice", "bob"}, {"carol"}], beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1), policy.recommend("carol", items, k=1)
    (array([1]), array([0]))
    """

    def __init__(
        self,
        *,
        n_features: int,
        partition: Iterable[Collection[Hashable]] | Mapping[Any, Any],
        beta: float = 1.0,
        reg: float = 4.0,
        discounts: Sequence[float] | None = None,
    ) -> None:
        n_features = validation.whole("n_features", n_features, low=1)
        self.partition = _kept(partition)
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self._cluster = _read_partition(self.partition)
        self.discounts = validation.discounts("discounts", discounts)
        super().__init__(n_features, self.reg, (self.beta, 0.0, 1.0), self.discounts)
        for g in range(len(set(self._cluster.values()))):
            self._open(g)
        for user in self._cluster:
            self._join(user)

    def _group_of(self, user: Hashable) -> int:
        try:
            return self._cluster[user]
        except KeyError:
            raise UnknownUser(
                f"user must be in the partition, which names {len(self._cluster)} users, "
                f"got {user!r}"
            ) from None

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a partition of the users that the checks play with."""
        yield cls(n_features=3, partition={user: user % 2 for user in range(12)})


def _kept(partition: Any) -> Any:
    """Return a partition that can be saved and read more than once: an iterator's as a list."""
    if isinstance(partition, Mapping):
        return dict(partition)
    if isinstance(partition, str) or not isinstance(partition, Iterable):
        raise _wrong(partition)
    if isinstance(partition, np.ndarray | range):
        return partition
    try:
        return [
            part if np.isscalar(part) or isinstance(part, _SAVED) else list(part)
            for part in partition
        ]
    except TypeError:
        raise _wrong(partition) from None


def _wrong(partition: Any) -> InvalidArgument:
    return InvalidArgument(
        "partition must be a list of sets of hashable users, a mapping user -> label, or one label "
        f"for each of the users 0, 1, ..., got {validation.brief(partition)}"
    )


def _read_partition(partition: Any) -> dict[Hashable, int]:
    try:
        labelled = _labelled(partition)
        cluster = _numbered(labelled)
    except TypeError:
        raise _wrong(partition) from None
    for part in zip(*labelled, strict=True):
        check_ids("partition", part)
    return cluster


def _labelled(partition: Any) -> list[tuple[Hashable, Any]]:
    """Return every user with the label of its cluster."""
    if isinstance(partition, Mapping):
        return list(partition.items())
    if isinstance(partition, np.ndarray) or all(np.isscalar(part) for part in partition):
        return list(enumerate(np.asarray(partition).tolist()))
    return [(user, g) for g, users in enumerate(partition) for user in users]


def _numbered(labelled: list[tuple[Hashable, Any]]) -> dict[Hashable, int]:
    """Return the number of every user's cluster, in the order in which they are named."""
    numbers: dict[Any, int] = {}
    cluster: dict[Hashable, int] = {}
    for user, label in labelled:
        if user in cluster:
            raise InvalidArgument(f"partition must name each user once, got {user!r} twice")
        cluster[user] = numbers.setdefault(label, len(numbers))
    if not cluster:
        raise InvalidArgument("partition must name at least one user, got none")
    return cluster
