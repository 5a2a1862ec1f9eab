"""Gap relaxation: an edge-deletion constant that becomes smaller while a policy runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from clubcascade import validation
from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument
from clubcascade.policies._mixins import club_inside
from clubcascade.policies._wrapper import Wrapper
from clubcascade.policies.club_cascade import ClubCascade


class AlphaSchedule(Wrapper):
    """Lower the alpha of a CLUB-cascade as more data flows in, by a schedule or by hand.

    Nothing is deleted at once: line 10 of the algorithm tests the edges of the user who is served,
    so an edge that fails the stricter test goes when one of its two users is served next.

    Parameters
    ----------
    policy
        A policy over a graph of users, such as :class:`clubcascade.ClubCascade`.
    steps
        Steps ``(updates, alpha)``: after so many updates alpha is at most that. Updates rise,
        alphas fall.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions": "the
    parameter gamma can be changed smaller and our algorithm can continue working".

    Examples
    --------
    >>> policy = AlphaSchedule(ClubCascade(n_features=1, alpha=2.0), steps=[(2, 1.5)])
    >>> for _ in range(2):
    ...     policy.update("alice", [[1.0]], click=0)
    >>> policy.alpha
    1.5
    >>> policy.relax(alpha=0.5)
    >>> policy.alpha
    0.5
    """

    def __init__(
        self, policy: Policy | Mapping[str, Any], *, steps: Sequence[Sequence[float]] = ()
    ) -> None:
        super().__init__(policy)
        self._club = club_inside(self.base)
        self.steps = _read_steps(steps, self._club.alpha)

    def _updated(self) -> None:
        for updates, alpha in self.steps:
            if self._updates >= updates:
                self._club._lower_alpha(alpha)

    def relax(self, *, alpha: float) -> None:
        """Make the edge-deletion constant smaller, from the next update on, without a restart.

        The schedule goes on, as far as its steps are smaller still.

        Parameters
        ----------
        alpha
            The new constant, at most the one in force: what was deleted does not come back.
        """
        smaller = validation.number("alpha", alpha, low=0, infinite=True)
        with self._lock:
            if smaller > self._club.alpha:
                raise InvalidArgument(
                    f"alpha must be at most the one in force, {self._club.alpha:g}, "
                    f"got {alpha!r}: an edge that is gone does not come back"
                )
            self._club._lower_alpha(smaller)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(ClubCascade(n_features=3, alpha=1.0), steps=[(8, 0.6), (20, 0.3)])


def _read_steps(steps: Any, alpha: float) -> list[tuple[int, float]]:
    """Return steps ``(updates, alpha)`` as given, checked against the alpha of the start.

    >>> _read_steps([[1000, 1.5], [5000, 1.0]], alpha=2.0)
    [(1000, 1.5), (5000, 1.0)]
    """
    wanted = "steps must be pairs (updates, alpha)"
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise InvalidArgument(f"{wanted}, got {steps!r}")
    read = [_step(step, wanted) for step in steps]
    if any(after[0] <= before[0] for before, after in pairwise(read)):
        raise InvalidArgument(f"{wanted} with rising numbers of updates, got {steps!r}")
    alphas = [alpha, *(step[1] for step in read)]
    if any(after > before for before, after in pairwise(alphas)):
        raise InvalidArgument(
            f"{wanted} in which alpha only falls, from {alpha:g} at the start, got {steps!r}: "
            f"an edge that is gone does not come back"
        )
    return read


def _step(step: Any, wanted: str) -> tuple[int, float]:
    if isinstance(step, str) or not isinstance(step, Sequence) or len(step) != 2:
        raise InvalidArgument(f"{wanted}, got {step!r} among them")
    return (
        validation.whole("updates of steps", step[0], low=1),
        validation.number("alpha of steps", step[1], low=0, infinite=True),
    )
