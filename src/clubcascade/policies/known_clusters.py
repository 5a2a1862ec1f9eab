"""Known clusters: one linear model per true cluster."""

from collections.abc import Iterator, Sequence
from typing import Self

from clubcascade import validation
from clubcascade.learners.grouped import GroupedModels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin
from clubcascade.policies._partition import Clusters, Partition


class KnownClusters(LinearScoresMixin, CompiledPolicy):
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
        As for :class:`clubcascade.ClubCascade`.

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
        partition: Clusters,
        beta: float = 1.0,
        reg: float = 4.0,
        discounts: Sequence[float] | None = None,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        clusters = Partition(partition)
        self.partition = clusters.kept
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self.discounts = validation.discounts("discounts", discounts)
        learner = GroupedModels(
            self.n_features,
            self.reg,
            (self.beta, 0.0, 1.0),
            clusters.cluster_of,
            discounts=self.discounts,
            n_models=clusters.n_clusters,
        )
        super().__init__(learner)
        for user in clusters.cluster:
            self._join(user)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, partition={user: user % 2 for user in range(12)})
