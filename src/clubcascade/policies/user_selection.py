"""Active learning: a policy that chooses whom to serve, for a number of rounds."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies._mixins import club_inside
from clubcascade.policies._wrapper import Wrapper
from clubcascade.policies.club_cascade import ClubCascade


class UserSelection(Wrapper):
    """Choose whom to serve in the first rounds: the user of whom least is known.

    :func:`clubcascade.simulate` lets such a policy choose from all users of an environment.

    Parameters
    ----------
    policy
        A policy over a graph of users, such as :class:`clubcascade.ClubCascade`.
    rounds
        For so many updates the policy asks for users.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions": "If the
    learning agent has the access to sample users, the setting becomes active learning".

    Examples
    --------
    >>> policy = UserSelection(ClubCascade(n_features=1, users=["alice", "bob", "carol"]), rounds=2)
    >>> policy.update("alice", [[1.0]], None)
    >>> policy.asks, policy.choose_user(["alice", "carol", "bob"])
    (True, 'carol')
    >>> policy.update("carol", [[1.0]], None)
    >>> policy.asks
    False
    """

    def __init__(self, policy: Policy | Mapping[str, Any], *, rounds: int) -> None:
        super().__init__(policy)
        self._club = club_inside(self.base)
        self.rounds = validation.whole("rounds", rounds, low=0)

    @property
    def asks(self) -> bool:
        """Tell whether the policy wants to choose whom to serve next."""
        return self._updates < self.rounds

    def choose_user(self, candidates: Iterable[Hashable]) -> Hashable:
        """Return the candidate of whom least is known, of those who are not alone already.

        That is whoever has the fewest samples, users who have not come yet first of all; ties go
        to the earlier candidate. A user without neighbours has no edge left to be tested: it is
        chosen only among its like.

        Parameters
        ----------
        candidates
            Users to choose from, known or not.
        """
        if not isinstance(candidates, Iterable):
            raise InvalidArgument(f"candidates must be users, got {candidates!r}")
        choice, club = list(candidates), self._club
        if not choice:
            raise InvalidArgument("candidates must name at least one user, got none")
        numbers = np.array([club.number(user, "candidates") for user in choice])
        with club._lock:
            met = numbers >= 0
            alone = np.zeros(len(numbers), bool)
            alone[met] = club._learner.graph.arrays["degree"][numbers[met]] == 0
            counts = np.zeros(len(numbers), np.int64)
            counts[met] = club._learner.users.counts(numbers[met])
            counts[alone] += 1 + counts.max()
            return choice[int(np.argmin(counts))]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(ClubCascade(n_features=3, users=range(6), alpha=0.5), rounds=20)
