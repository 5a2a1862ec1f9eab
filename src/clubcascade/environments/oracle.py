"""The oracle: a policy that knows what attracts each user."""

from collections.abc import Hashable, Iterator
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Feedback, Ints, Items, Policy, Shown
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument


class Oracle(Policy):
    """Show every user the best list. Its regret is 0: the line under which nothing falls.

    Parameters
    ----------
    env
        The environment whose truth it knows; it ranks the items of the environment's current
        round.

    Examples
    --------
    >>> from clubcascade.environments import Matrix
    >>> env = Matrix([[0.1, 0.9]], items=np.eye(2))
    >>> user, items = env.next_user()
    >>> Oracle(env).recommend(user, items, k=1)
    array([1])
    """

    def __init__(self, env: TabularEnvironment) -> None:
        self.env = env
        self.n_features = env.n_features

    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        """Return the most attractive items, the best where a click most often ends the session."""
        if not isinstance(user, int | np.integer):
            raise InvalidArgument(f"user must be a number of the environment's, got {user!r}")
        attraction = self.env.attraction_now(int(user))
        k = validation.list_length(k, len(attraction))
        best = np.argsort(-attraction, kind="stable")[:k]
        stop = self.env.click.stop[np.minimum(np.arange(k), len(self.env.click.stop) - 1)]
        ranking = np.empty(k, np.intp)
        ranking[np.argsort(-stop, kind="stable")] = best
        return ranking

    def update(self, user: Hashable, shown: Shown, click: int | None | Feedback) -> None:
        """Learn nothing: there is nothing to learn."""

    def state(self) -> dict[str, Any]:
        """Return nothing: nothing was learned."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over nothing."""

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield nothing: it is bound to an environment."""
        yield from ()
