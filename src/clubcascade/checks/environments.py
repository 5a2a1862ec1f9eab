"""What every environment and every click model promises."""

import math
from collections.abc import Callable

import numpy as np

from clubcascade.click import ClickModel
from clubcascade.core import Environment

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


ENVIRONMENT_CHECKS: tuple[Callable[[Environment], None], ...] = (
    a_seed_gives_the_same_world,
    clicks_do_not_depend_on_position,
    regret_is_a_loss,
)


def check_click_model(model: ClickModel) -> None:
    """Run every check on a click model; raise AssertionError at the first broken promise."""
    for check in CLICK_MODEL_CHECKS:
        check(model)


def sure_things_are_sure(model: ClickModel) -> None:
    """What attracts nobody is never clicked; the first sure item always is."""
    rng = np.random.default_rng(1)
    assert model.sample(np.zeros(4), rng).clicks == ()
    assert model.sample(np.zeros(4), rng).examined == 4
    for _ in range(20):
        assert model.sample(np.array([0.0, 1.0, 0.5]), rng).clicks[0] == 1


def examined_ends_at_the_last_click(model: ClickModel) -> None:
    """Items after the last click are not observed; without a click all were examined."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        feedback = model.sample(np.full(5, 0.3), rng)
        last = feedback.clicks[-1] + 1 if feedback.clicks else 5
        assert feedback.examined == last, f"{feedback} does not end at its last click"


def value_is_the_chance_of_satisfaction(model: ClickModel) -> None:
    """The value lies in [0, 1], grows with attraction, and bounds the probability of a click."""
    rng = np.random.default_rng(3)
    attraction = np.array([0.2, 0.5, 0.1])
    value = model.value(attraction)
    assert 0.0 <= value <= 1.0
    assert model.value(attraction + 0.2) >= value
    n = 4000
    clicked = sum(bool(model.sample(attraction, rng).clicks) for _ in range(n)) / n
    assert value <= clicked + 5 * math.sqrt(0.25 / n), "worth more than it is clicked"


CLICK_MODEL_CHECKS: tuple[Callable[[ClickModel], None], ...] = (
    sure_things_are_sure,
    examined_ends_at_the_last_click,
    value_is_the_chance_of_satisfaction,
)
