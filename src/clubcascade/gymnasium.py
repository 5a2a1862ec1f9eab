"""Environments as those of Gymnasium, for its agents and tools; the extra ``gymnasium``."""

from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core import Environment, Ints
from clubcascade.errors import InvalidArgument, MissingExtra
from clubcascade.simulation.rounds import check_environment

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtra(
        'clubcascade.gymnasium needs gymnasium: pip install "clubcascade[gymnasium]"'
    ) from error

Observation = dict[str, Any]


class RankingEnv(gymnasium.Env[Observation, Ints]):
    """Show a list of ``k`` items to the user who comes; the reward is the number of clicks.

    An action is a list of ``k`` item indices, best first; an item that is named again is not shown
    again, so the list is shorter then. An observation is a dictionary: ``"user"``, the number of
    the user who comes, and ``"items"``, the features of the items that may be shown, one row each.
    ``info`` of a step has ``"clicks"`` (clicked positions), ``"examined"`` (how many items were
    looked at) and, where it is known, ``"regret"`` (expected clicks lost against the best list).

    ``reset(seed=s)`` starts the very rounds of ``simulate(..., seed=s)``. Without a seed, a reset
    goes on to new users and clicks.

    Parameters
    ----------
    env
        Who comes, what may be shown and what they do.
    k
        Length of the list.
    rounds
        After so many steps an episode is truncated; by default it never ends.

    Examples
    --------
    >>> import clubcascade as cc
    >>> world = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=8, n_features=3, seed=1)
    >>> env = RankingEnv(world, k=2, rounds=100)
    >>> observation, info = env.reset(seed=7)
    >>> observation["items"].shape
    (8, 3)
    >>> observation, reward, terminated, truncated, info = env.step(np.array([5, 2]))
    >>> reward == len(info["clicks"])
    True
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, env: Environment, k: int, *, rounds: int | None = None) -> None:
        check_environment(env)
        self.env = env
        env.reset(0)
        _, items = env.next_user()
        self.k = validation.list_length(k, len(items))
        self.rounds = None if rounds is None else validation.whole("rounds", rounds, low=1)
        high = 1.0 + validation.NORM_TOLERANCE
        self.action_space = gymnasium.spaces.MultiDiscrete([len(items)] * self.k)
        self.observation_space = gymnasium.spaces.Dict(
            user=gymnasium.spaces.Discrete(env.n_users),
            items=gymnasium.spaces.Box(-high, high, (len(items), env.n_features), np.float64),
        )
        self._user = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same users, items and clicks."""
        super().reset(seed=seed)
        self.env.reset(int(self.np_random.integers(2**63)) if seed is None else seed)
        self._step = 0
        return self._next(), {}

    def step(self, action: Ints) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Show a list to the user of this round, and let the next one come."""
        if self._user < 0:
            raise gymnasium.error.ResetNeeded("call reset before step")
        if not self.action_space.contains(np.asarray(action)):
            raise InvalidArgument(
                f"action must be {self.k} item indices of {self.action_space}, got {action!r}"
            )
        ranking = np.array(list(dict.fromkeys(np.asarray(action).tolist())))
        feedback = self.env.respond(self._user, ranking)
        info: dict[str, Any] = {"clicks": list(feedback.clicks), "examined": feedback.examined}
        regret = self.env.regret(self._user, ranking)
        if regret is not None:
            info["regret"] = regret
        self._step += 1
        over = self.rounds is not None and self._step >= self.rounds
        return self._next(), float(len(feedback.clicks)), False, over, info

    def _next(self) -> Observation:
        self._user, items = self.env.next_user()
        return {"user": self._user, "items": np.array(items[np.arange(len(items))])}
