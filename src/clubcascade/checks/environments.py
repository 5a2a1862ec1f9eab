"""What every environment promises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clubcascade.core import Environment

Check = Callable[[Environment], None]
_K = 2


def check_environment(env: Environment) -> None:
    """Run every check on an environment; raise AssertionError at the first broken promise."""
    for check in ENVIRONMENT_CHECKS:
        check(env)


def a_seed_gives_the_same_world(env: Environment) -> None:
    """The same seed gives the same arrivals, items and clicks; another seed gives others."""

    def rollout(seed: int) -> list[object]:
        env.reset(seed)
        seen: list[object] = []
        for _ in range(50):
            user, items = env.next_user()
            features = np.asarray(items[np.arange(_K)])
            seen.append((user, features.tobytes(), env.respond(user, np.arange(_K))))
        return seen

    first = rollout(1)
    assert first == rollout(1), "one seed gave two worlds"
    assert first != rollout(2), "two seeds gave one world"


def clicks_do_not_depend_on_position(env: Environment) -> None:
    """Whether an item is liked this round does not depend on the position it is shown at."""
    env.reset(3)
    for _ in range(50):
        user, items = env.next_user()
        n = min(len(items), 6)
        alone = [bool(env.respond(user, np.array([row])).clicks) for row in range(n)]
        feedback = env.respond(user, np.arange(n)[::-1])
        for position in range(feedback.examined):
            liked = position in feedback.clicks
            assert liked == alone[n - 1 - position], "a click depends on the position of the item"


def regret_is_a_loss(env: Environment) -> None:
    """Regret is never negative, and a longer list is never worse than its beginning."""
    env.reset(4)
    rng = np.random.default_rng(1)
    for _ in range(50):
        user, items = env.next_user()
        ranking = rng.permutation(len(items))[:_K]
        loss = env.regret(user, ranking)
        assert loss is None or loss >= -1e-12, f"negative regret {loss}"


ENVIRONMENT_CHECKS: tuple[Check, ...] = (
    a_seed_gives_the_same_world,
    clicks_do_not_depend_on_position,
    regret_is_a_loss,
)
