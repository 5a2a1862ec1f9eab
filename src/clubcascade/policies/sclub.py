"""SCLUB: clusters of users as sets that split and merge."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Self

from clubcascade import validation
from clubcascade.learners.sclub import SetClusters
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin
from clubcascade.policies._users import kept_users, read_users


class SCLUB(LinearScoresMixin, CompiledPolicy):
    """Set-based clustering of bandits: users are split off one by one, and clusters may merge.

    All users start in one cluster; every cluster is served by one linear model. With
    ``F(T) = sqrt((1 + ln(1 + T)) / (1 + T))``, the user of a round leaves its cluster if its own
    weights differ from those that the cluster had at the start of the phase by more than
    ``alpha_theta (F + F)``, or if it comes more often or more seldom than another user of the
    cluster, by more than ``2 alpha_p F(rounds)``. Clusters are checked when all their users came in
    the phase; two checked ones merge if weights and mean frequencies differ by less than half of
    that. Phase s has 2^s rounds. A list of one item is the algorithm without cascading feedback;
    its details were taken from its authors' code and descriptions, not from the paper's full text.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join the first cluster at their first ``update``.
    alpha_theta
        Constant of the weights, 0 to infinity; 1 in the authors' code.
    alpha_p
        Constant of the frequencies, 0 to infinity; infinity leaves frequencies out.
    beta
        Exploration constant.
    reg
        Ridge constant; 1 in the paper.

    Notes
    -----
    Of a longer list every examined item is an observation, as in CLUB-cascade: T counts items.
    Frequencies count rounds. Where the paper leaves room: pairs merge in the order of their
    clusters, and again until no pair is close; a new cluster takes the first free place; one that
    was split off in a phase has for its start what the user had then; a user who is alone in its
    cluster stays.

    A round costs O(d^2 + clusters d), and a split or a merge O(users + d^3).

    References
    ----------
    Li, Chen, Li and Leung, "Improved algorithm on online clustering of bandits", IJCAI 2019,
    Algorithms 1 to 4.

    Examples
    --------
    >>> import numpy as np
    >>> policy = SCLUB(n_features=2, users=["alice", "bob", "carol"], alpha_theta=0.5)
    >>> items = np.eye(2)
    >>> for _ in range(30):
    ...     policy.update("alice", items[[0, 1]], click=0)
    ...     policy.update("bob", items[[1, 0]], click=0)
    ...     policy.update("carol", items[[0, 1]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    >>> [sorted(cluster) for cluster in policy.clusters()]
    [['alice', 'carol'], ['bob']]
    """

    n_features: int
    _learner: SetClusters

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        alpha_theta: float = 1.0,
        alpha_p: float = 1.0,
        beta: float = 1.0,
        reg: float = 1.0,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.alpha_theta = validation.number("alpha_theta", alpha_theta, low=0, infinite=True)
        self.alpha_p = validation.number("alpha_p", alpha_p, low=0, infinite=True)
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        known = read_users(users)
        self._given = {"users": kept_users(users, known)}
        learner = SetClusters(
            self.n_features,
            len(known),
            alpha_theta=self.alpha_theta,
            alpha_p=self.alpha_p,
            beta=self.beta,
            reg=self.reg,
        )
        super().__init__(learner, known)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, users=range(6), alpha_theta=0.4, beta=0.5)
        yield cls(n_features=3, alpha_theta=0.7, alpha_p=0.2)
        yield cls(n_features=3, users=range(4), alpha_theta=0.6, alpha_p=float("inf"), reg=0.5)
