"""CLUB-cascade with a link function: the paper's extension to generalized linear rewards."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Self

from clubcascade import validation
from clubcascade.learners.club import ClubModels
from clubcascade.learners.likelihoods import Solver
from clubcascade.learners.user_estimates import UserEstimates
from clubcascade.links import Link
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._glm import GLMMixin
from clubcascade.policies._mixins import ClubMixin, StartName, read_start
from clubcascade.policies._users import kept_users, read_users


class ClubCascadeGLM(GLMMixin, ClubMixin, CompiledPolicy):
    """CLUB-cascade for clicks whose probability is ``mu(weights . x)`` with a known link mu.

    Every component of the users' graph, and every user, has an estimate of its own: the solution
    of Equation (8) of the paper over all its samples. Items are ranked by
    ``weights . x + beta sqrt(x' M^-1 x)``; an edge goes as in :class:`clubcascade.ClubCascade`.
    With the identity link this is :class:`clubcascade.ClubCascade` of the same ``reg``.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``.
    link
        ``"logistic"``, ``"probit"``, ``"identity"``, or a :class:`clubcascade.Link`.
    alpha
        Edge-deletion constant, in units of weights; by default 2 over the link's largest slope.
        That of Theorem 4 is :func:`clubcascade.theory.alpha_glm`.
    beta
        Exploration constant, in units of ``weights . x``; by default 1 over the link's largest
        slope. That of Theorem 4 is :func:`clubcascade.theory.beta_glm`.
    reg
        Ridge constant of the widths.
    penalty
        ``penalty weights`` is added to Equation (8), which keeps weights finite where samples are
        separable or few; by default ``reg`` times the largest slope. The paper has none.
    solver
        ``"exact"``: the solution of Equation (8) over all samples, which is the maximum likelihood
        estimate for the logistic link (not for probit). They are kept as counts per distinct item:
        bounded with a catalogue, growing for ever with items that change.
        ``"online"``: every sample is seen once and none is kept.
    start, edge_probability
        The graph at the beginning, as for :class:`clubcascade.ClubCascade`.
    seed
        Seed of the random start.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Extensions to generalized
    linear rewards": Equation (8) and Theorem 4. The online solver is a step of Faury, Abeille, Jun
    and Calauzènes, "Jointly efficient and optimal algorithms for logistic bandits", AISTATS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> policy = ClubCascadeGLM(n_features=2, users=["alice", "bob"], alpha=1.0, reg=1.0)
    >>> items = np.eye(2)
    >>> for _ in range(20):
    ...     policy.update("alice", items[[0, 1]], click=0)
    ...     policy.update("bob", items[[1, 0]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    >>> policy.clusters()
    [{'alice'}, {'bob'}]
    """

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        link: str | Link = "logistic",
        alpha: float | None = None,
        beta: float | None = None,
        reg: float = 4.0,
        penalty: float | None = None,
        solver: Solver = "exact",
        start: StartName = "complete",
        edge_probability: float | None = None,
        seed: int = 0,
    ) -> None:
        glm = self._read_glm(n_features, link, beta, reg, penalty, solver)
        default = 2.0 / glm.link.lipschitz
        first_alpha = validation.number(
            "alpha", default if alpha is None else alpha, low=0, infinite=True
        )
        self.seed = validation.whole("seed", seed, low=0)
        self.start, self.edge_probability = start, edge_probability
        graph = read_start(start, edge_probability, self.seed)
        known = read_users(users)
        self._given |= {"users": kept_users(users, known), "alpha": alpha}
        own = UserEstimates(self.n_features, glm)
        learner = ClubModels(
            own, graph, len(known), alpha=first_alpha, beta=self.beta, reg=self.reg
        )
        super().__init__(learner, known)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, users=range(6), alpha=1.0, beta=0.5, reg=1.0)
        yield cls(n_features=3, link="probit", alpha=0.8, beta=0.5, reg=1.0)
        yield cls(
            n_features=3, users=range(4), alpha=1.0, start="random", edge_probability=0.6, seed=5
        )
        yield cls(n_features=3, users=range(3), alpha=1.0, beta=0.5, reg=1.0, solver="online")
