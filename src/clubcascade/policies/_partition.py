"""A partition of the users that is given: read, checked and kept."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.errors import InvalidArgument, UnknownUser
from clubcascade.model_file import check_ids

Clusters = Iterable[Collection[Hashable]] | Mapping[Any, Any]

_SAVED = (list, tuple, set, frozenset, range, np.ndarray)
"""Collections of users that a file can keep."""


class Partition:
    """The cluster of every user.

    It is given as a list of sets of users, a mapping user -> label, or one label for each of the
    users 0, 1, ...

    Examples
    --------
    >>> partition = Partition([{"alice", "bob"}, {"carol"}])
    >>> partition.cluster_of("carol", 0), partition.n_clusters
    (1, 2)
    """

    def __init__(self, given: Clusters) -> None:
        self.kept = _kept(given)
        self.cluster = _read_partition(self.kept)
        self.n_clusters = len(set(self.cluster.values()))

    def cluster_of(self, user: Hashable, number: int) -> int:
        """Return the cluster of a user, whatever its number is."""
        try:
            return self.cluster[user]
        except KeyError:
            raise UnknownUser(
                f"user must be in the partition, which names {len(self.cluster)} users, "
                f"got {user!r}"
            ) from None


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
        if isinstance(partition, Mapping):
            labelled = list(partition.items())
        elif isinstance(partition, np.ndarray) or all(np.isscalar(part) for part in partition):
            labelled = list(enumerate(np.asarray(partition).tolist()))
        else:
            labelled = [(user, g) for g, users in enumerate(partition) for user in users]
        cluster = _numbered(labelled)
    except TypeError:
        raise _wrong(partition) from None
    for part in zip(*labelled, strict=True):
        check_ids("partition", part)
    return cluster


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
