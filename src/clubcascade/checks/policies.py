"""What every policy promises."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clubcascade.checks._rounds import (
    ROUNDS,
    K,
    catalog_for,
    check_list,
    learned,
    run_rounds,
    same,
    trained,
)
from clubcascade.checks.policy_states import (
    copies_take_the_same_steps,
    learned_keeps_its_parameters,
    loaded_takes_the_same_step,
    parameters_are_kept,
    refused_state_changes_nothing,
    saved_continues_bit_for_bit,
    state_is_a_copy,
)
from clubcascade.core import Catalog, Feedback, Policy, Slate
from clubcascade.environments import Synthetic
from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.simulation import simulate

Check = Callable[[Policy], None]

EXTREMES = (5e-324, 1e-300, 1e-150, 1e-12, 1e-6, 1e6, 1e12, 1e150, 1e308)
"""Values of a parameter that arithmetic may not survive."""


def check_policy(policy: Policy) -> None:
    """Run every check on a policy; raise AssertionError at the first broken promise, by its name.

    Other errors of the policy, such as a TypeError, are found as the promise that they break.
    """
    if isinstance(policy, type):
        raise InvalidArgument(
            f"policy must be an instance, such as {policy.__name__}(...), got the class"
        )
    for check in POLICY_CHECKS:
        try:
            check(policy.fresh())
        except Exception as error:
            found = str(error) if isinstance(error, AssertionError) else repr(error)
            promise = (check.__doc__ or "").partition("\n")[0]
            raise AssertionError(f"{check.__name__}: {found} (Promised: {promise})") from error


def lists_are_distinct_rows(policy: Policy) -> None:
    """``recommend`` returns k distinct rows of the items, for users old and new."""
    catalog, _ = trained(policy)
    for user in (0, 1, 2):
        for k in (1, K, len(catalog)):
            ranking = policy.recommend(user, catalog, k)
            check_list(ranking, k, len(catalog))


def recommend_learns_nothing(policy: Policy) -> None:
    """``recommend`` leaves what was learned as it is."""
    catalog, _ = trained(policy)
    before = learned(policy)
    other_items = Catalog(np.zeros((4, catalog.n_features)), ids=[f"new {row}" for row in range(4)])
    for user in range(3):
        policy.recommend(user, catalog, K)
        policy.recommend(user, other_items, K)
    assert same(before, learned(policy)), "recommend changed what was learned"


def replay_rebuilds_the_state(policy: Policy) -> None:
    """The log alone gives the same state bit for bit: ``update`` needs no earlier ``recommend``."""
    other = policy.fresh()
    catalog, log = trained(policy)
    for event in log:
        other.update(event.user, catalog[event.ranking], event.feedback)
    assert same(learned(policy), learned(other)), "a replayed log gave another state"


def inputs_may_be_read_only(policy: Policy) -> None:
    """Items may be read-only, and are left as they were."""
    catalog = catalog_for(policy)
    if policy.n_features is None:
        return
    items = np.array(catalog.features)
    items.flags.writeable = False
    before = items.copy()
    for user in range(3):
        ranking = policy.recommend(user, items, K)
        shown = items[ranking]
        shown.flags.writeable = False
        policy.update(user, shown, None)
    assert np.array_equal(before, items), "items were changed"


def unseen_items_teach_nothing(policy: Policy) -> None:
    """Items after the last examined one teach nothing."""
    other = policy.fresh()
    catalog, log = trained(policy)
    rng = np.random.default_rng(2)
    for event in log:
        ranking = event.ranking.copy()
        rest = np.setdiff1d(np.arange(len(catalog)), ranking[: event.feedback.examined])
        unseen = len(ranking) - event.feedback.examined
        ranking[event.feedback.examined :] = rng.choice(rest, unseen, replace=False)
        other.update(event.user, catalog[ranking], event.feedback)
    assert same(learned(policy), learned(other)), "items that nobody examined taught something"


def a_matrix_is_a_catalogue(policy: Policy) -> None:
    """Items as a matrix and as a catalogue give the same lists and teach the same."""
    if policy.n_features is None:
        return
    other = policy.fresh()
    catalog = catalog_for(policy)
    for event in run_rounds(policy, catalog):
        rows = other.recommend(event.user, catalog.features, K)
        assert np.array_equal(rows, event.ranking), "a matrix got another list"
        other.update(event.user, catalog.features[rows], event.feedback)
    assert same(policy.state(), other.state()), "a matrix taught something else"


def list_with_scores_is_recommend_and_scores(policy: Policy) -> None:
    """The list with scores, where a policy has one, is that of ``recommend`` and ``scores``."""
    if not getattr(policy, "has_scores", False):
        return
    scored: Any = policy
    other: Any = policy.fresh()
    catalog, _ = trained(policy)
    other.load_state(policy.state())
    for user in (0, 1, 11):
        for items in (catalog, np.array(catalog.features)):
            rows, scores = scored.recommend_scored(user, items, K)
            assert rows == other.recommend(user, items, K).tolist(), "another list with its scores"
            own = other.scores(user, items)[rows]
            close = np.allclose(scores, own, rtol=1e-12, atol=1e-12)
            assert close, f"a list with scores {scores}, where scores has {own.tolist()}"


def simulations_run_it(policy: Policy) -> None:
    """``simulate`` runs the policy, with the same result each time: so do experiments."""
    env = Synthetic(
        n_users=6, n_clusters=2, n_items=12, n_features=policy.n_features or 3, gap=0.5, seed=1
    )
    other = policy.fresh()
    first, second = (simulate(each, env, rounds=ROUNDS, k=K, seed=1) for each in (policy, other))
    assert np.array_equal(first.reward, second.reward), "one seed gave two runs"
    assert same(policy.state(), other.state()), "one seed gave two states"


def bad_input_changes_nothing(policy: Policy) -> None:
    """A rejected call names what is wrong and leaves the policy untouched."""
    catalog, _ = trained(policy)
    before = copy.deepcopy(policy.state())
    for call, arguments in _bad_calls(policy, catalog):
        said = f"{call}({', '.join(map(_short, arguments))})"
        try:
            getattr(policy, call)(*arguments)
        except ClubCascadeError as error:
            assert str(error), f"{said} raised an error without a message"
        except Exception as error:
            raise AssertionError(
                f"{said} must be refused with an InvalidArgument, got {error!r}"
            ) from error
        else:
            raise AssertionError(f"{said} was accepted")
        assert same(before, policy.state()), f"{said} was refused, but changed the policy"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray | Slate):
        return f"items of shape {np.asarray(value).shape}"
    return "catalog" if isinstance(value, Catalog) else repr(value)


def _bad_calls(policy: Policy, catalog: Catalog) -> Iterator[tuple[str, tuple[Any, ...]]]:
    shown = catalog[[0, 1, 2]]
    new = Catalog(np.zeros((2, catalog.n_features)), ids=["new", "newer"])
    for k in (0, -1, len(catalog) + 1, 1.5, True):
        yield "recommend", (0, catalog, k)
    yield "recommend", ([], catalog, 1)
    yield "update", ([], shown, 0)
    for click in (3, -1, 0.5, True, "2", Feedback(examined=4, clicks=())):
        yield "update", (0, shown, click)
    yield "update", ("newcomer", shown, 9)
    yield "update", (0, new[[0, 1]], 2)
    yield "update", (0, catalog[[]], None)
    yield "load_state", ({},)
    if policy.n_features is None:
        return
    good = np.array(catalog.features)
    spoilt = [good.copy() for _ in range(3)]
    for items, value in zip(spoilt, (math.nan, math.inf, 2.0), strict=True):
        items[5, 0] = value
    for wrong in (*spoilt, good[:, :-1], good[0], good[:0], "items", None):
        yield "recommend", (0, wrong, 1)
        yield "update", (0, wrong, None)


def extremes_stay_finite(policy: Policy) -> None:
    """No accepted parameter and no accepted update makes the state other than finite."""
    _stay_finite(policy.fresh(), "as it is")
    for name, value in policy.params.items():
        for extreme in EXTREMES if type(value) is float else ():
            try:
                other = type(policy)(**policy.params | {name: extreme})
            except ClubCascadeError:
                continue
            _stay_finite(other, f"with {name}={extreme!r}")


def _stay_finite(policy: Policy, how: str) -> None:
    """Teach a policy what is hard for its arithmetic: items that are nearly one, and tiny ones."""
    d = policy.n_features or 3
    line = np.full((6, d), (1.0 - 1e-9) / math.sqrt(d))
    line[:, 0] -= np.array([0.0, 1e-15, 1e-9, 1e-6, 0.0, 0.0])
    line[4:] *= np.array([[1e-160], [1e-8]])
    catalog = Catalog(line)
    for turn in range(40):
        ranking = policy.recommend(turn % 3, catalog, K)
        assert len(set(ranking.tolist())) == K, f"{how}: a row twice in {ranking!r}"
        click = None if turn % 4 == 3 else turn % 4
        policy.update(turn % 3, catalog[np.roll(np.arange(6), turn)[:4]], click)
    for name, value in policy.state().items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), f"{how}: {name} is not finite"
    if hasattr(policy, "scores"):
        assert np.isfinite(policy.scores(0, catalog)).all(), f"{how}: scores are not finite"


POLICY_CHECKS: tuple[Check, ...] = (
    parameters_are_kept,
    lists_are_distinct_rows,
    recommend_learns_nothing,
    replay_rebuilds_the_state,
    learned_keeps_its_parameters,
    state_is_a_copy,
    loaded_takes_the_same_step,
    saved_continues_bit_for_bit,
    copies_take_the_same_steps,
    refused_state_changes_nothing,
    inputs_may_be_read_only,
    unseen_items_teach_nothing,
    a_matrix_is_a_catalogue,
    list_with_scores_is_recommend_and_scores,
    simulations_run_it,
    bad_input_changes_nothing,
    extremes_stay_finite,
)
