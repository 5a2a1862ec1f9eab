"""Known clusters with a link function: one generalized linear model per true cluster."""

from collections.abc import Iterator
from typing import Self

from clubcascade.learners.grouped import GroupedModels
from clubcascade.learners.likelihoods import Solver
from clubcascade.links import Link
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._glm import GLMMixin
from clubcascade.policies._partition import Clusters, Partition


class KnownClustersGLM(GLMMixin, CompiledPolicy):
    """A generalized linear model per cluster of a partition that is given.

    Parameters
    ----------
    n_features
        Number of features of an item.
    partition
        The clusters, as for :class:`clubcascade.KnownClusters`.
    link, beta, reg, penalty, solver
        As for :class:`clubcascade.ClubCascadeGLM`.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions" and
    "Extensions to generalized linear rewards".

    Examples
    --------
    >>> import numpy as np
    >>> policy = KnownClustersGLM(n_features=2, partition=[{"alice", "bob"}, {"carol"}], beta=0.1)
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
        link: str | Link = "logistic",
        beta: float | None = None,
        reg: float = 4.0,
        penalty: float | None = None,
        solver: Solver = "exact",
    ) -> None:
        clusters = Partition(partition)
        self.partition = clusters.kept
        glm = self._read_glm(n_features, link, beta, reg, penalty, solver)
        radius = (self.beta, 0.0, 1.0)
        super().__init__(
            GroupedModels(
                self.n_features,
                self.reg,
                radius,
                clusters.cluster_of,
                glm=glm,
                n_models=clusters.n_clusters,
            )
        )
        for user in clusters.cluster:
            self._join(user)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, partition={user: user % 2 for user in range(12)})
