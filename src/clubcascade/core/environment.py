"""The interface of environments."""

from typing import Protocol, runtime_checkable

from clubcascade.core.arrays import Floats, Ints
from clubcascade.core.catalog import Catalog
from clubcascade.core.feedback import Feedback


@runtime_checkable
class Environment(Protocol):
    """Who comes, what may be shown, and what they do."""

    n_users: int
    n_features: int

    def reset(self, seed: int) -> None:
        """Start again: the same seed gives the same arrivals and the same random numbers."""

    def next_user(self) -> tuple[int, Floats | Catalog]:
        """Start a round: who comes, and the items that may be shown."""

    def respond(self, user: int, ranking: Ints) -> Feedback:
        """Simulate the feedback of this round's user on the list."""

    def regret(self, user: int, ranking: Ints) -> float | None:
        """Return the expected loss against the best list; None where it is unknown."""
