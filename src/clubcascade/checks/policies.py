"""What every policy promises."""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from clubcascade.checks._play import ROUNDS, K, catalog_for, learned, play, played, same
from clubcascade.core import Catalog, Feedback, Policy
from clubcascade.errors import ClubCascadeError
from clubcascade.policies import load

Check = Callable[[Policy], None]


def check_policy(policy: Policy) -> None:
    """Run every check on a policy; raise AssertionError at the first broken promise."""
    for check in POLICY_CHECKS:
        check(policy.fresh())


def lists_are_distinct_rows(policy: Policy) -> None:
    """``recommend`` returns k distinct rows of the items, for users old and new."""
    catalog, _ = played(policy)
    for user in (0, 1, 2):
        for k in (1, K, len(catalog)):
            ranking = policy.recommend(user, catalog, k)
            assert ranking.shape == (k,), f"wanted {k} rows, got {ranking!r}"
            assert len(set(ranking.tolist())) == k, f"a row twice in {ranking!r}"
            assert 0 <= ranking.min() <= ranking.max() < len(catalog), f"no such row: {ranking!r}"


def recommend_learns_nothing(policy: Policy) -> None:
    """``recommend`` leaves what was learned as it is."""
    catalog, _ = played(policy)
    before = learned(policy)
    stranger = Catalog(np.zeros((4, catalog.n_features)), ids=[f"new {row}" for row in range(4)])
    for user in range(3):
        policy.recommend(user, catalog, K)
        policy.recommend(user, stranger, K)
    assert same(before, learned(policy)), "recommend changed what was learned"


def replay_rebuilds_the_state(policy: Policy) -> None:
    """The log alone gives the same state to the bit: ``update`` needs no earlier ``recommend``."""
    other = policy.fresh()
    catalog, log = played(policy)
    for event in log:
        other.update(event.user, catalog[event.ranking], event.feedback)
    assert same(learned(policy), learned(other)), "a replayed log gave another state"


def loaded_takes_the_same_step(policy: Policy) -> None:
    """At every round a policy loaded from the state takes the very same step."""
    catalog = catalog_for(policy)
    other = policy.fresh()
    for event in play(policy, catalog, ROUNDS):
        ranking = other.recommend(event.user, catalog, K)
        assert np.array_equal(ranking, event.ranking), "a loaded policy shows another list"
        other.update(event.user, catalog[ranking], event.feedback)
        assert same(policy.state(), other.state()), "a loaded policy learned differently"
        other = policy.fresh()
        other.load_state(policy.state())


def saved_continues_to_the_bit(policy: Policy) -> None:
    """A policy read from a file continues as the one that was saved."""
    catalog, _ = played(policy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cc"
        policy.save(path)
        other = load(path)
    assert type(other) is type(policy)
    assert same(policy.state(), other.state()), "the file gave another state"
    for ours, theirs in zip(play(policy, catalog, 20), play(other, catalog, 20), strict=True):
        assert np.array_equal(ours.ranking, theirs.ranking), "the runs part"
    assert same(policy.state(), other.state()), "the saved policy learned differently"


def state_is_a_copy(policy: Policy) -> None:
    """Changing what ``state`` returned changes nothing in the policy."""
    played(policy)
    taken, before = policy.state(), copy.deepcopy(policy.state())
    for value in taken.values():
        if isinstance(value, np.ndarray):
            value[...] = 77
        elif isinstance(value, list):
            value.clear()
    assert same(before, policy.state()), "state shares memory with the policy"


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
    """Whatever stands behind the last look teaches nothing."""
    other = policy.fresh()
    catalog, log = played(policy)
    rng = np.random.default_rng(2)
    for event in log:
        ranking = event.ranking.copy()
        rest = np.setdiff1d(np.arange(len(catalog)), ranking[: event.feedback.examined])
        unseen = len(ranking) - event.feedback.examined
        ranking[event.feedback.examined :] = rng.choice(rest, unseen, replace=False)
        other.update(event.user, catalog[ranking], event.feedback)
    assert same(learned(policy), learned(other)), "items behind the last look taught something"


def loose_items_are_a_catalogue(policy: Policy) -> None:
    """Items as a matrix and as a catalogue give the same lists and teach the same."""
    if policy.n_features is None:
        return
    other = policy.fresh()
    catalog = catalog_for(policy)
    for event in play(policy, catalog):
        rows = other.recommend(event.user, catalog.features, K)
        assert np.array_equal(rows, event.ranking), "loose items got another list"
        other.update(event.user, catalog.features[rows], event.feedback)
    assert same(policy.state(), other.state()), "loose items taught something else"


def bad_input_changes_nothing(policy: Policy) -> None:
    """A rejected call names what is wrong and leaves the policy untouched."""
    catalog, _ = played(policy)
    before = copy.deepcopy(policy.state())
    for number, call in enumerate(_bad_calls(policy, catalog)):
        try:
            call()
        except ClubCascadeError as error:
            assert str(error), "an error without a message"
        else:
            raise AssertionError(f"bad input number {number} was accepted")
        assert same(before, policy.state()), "a rejected call changed the policy"


def _bad_calls(policy: Policy, catalog: Catalog) -> list[Callable[[], Any]]:
    shown = catalog[[0, 1, 2]]
    stranger = Catalog(np.zeros((2, catalog.n_features)), ids=["new", "newer"])
    calls: list[Callable[[], Any]] = [
        lambda: policy.recommend(0, catalog, 0),
        lambda: policy.recommend(0, catalog, -1),
        lambda: policy.recommend(0, catalog, len(catalog) + 1),
        lambda: policy.recommend(0, catalog, 1.5),  # type: ignore[arg-type]
        lambda: policy.recommend(0, catalog, True),
        lambda: policy.recommend([], catalog, 1),  # type: ignore[arg-type]
        lambda: policy.update([], shown, 0),  # type: ignore[arg-type]
        lambda: policy.update(0, shown, 3),
        lambda: policy.update(0, shown, -1),
        lambda: policy.update(0, shown, 0.5),  # type: ignore[arg-type]
        lambda: policy.update(0, shown, True),
        lambda: policy.update(0, shown, "2"),  # type: ignore[arg-type]
        lambda: policy.update(0, shown, Feedback(examined=4, clicks=())),
        lambda: policy.update("newcomer", shown, 9),
        lambda: policy.update(0, stranger[[0, 1]], 2),
        lambda: policy.update(0, catalog[[]], None),
        lambda: policy.load_state({}),
    ]
    if policy.n_features is None:
        return calls
    good = np.array(catalog.features)
    for value in (math.nan, math.inf, 2.0):
        bad = good.copy()
        bad[5, 0] = value
        calls.append(lambda bad=bad: policy.recommend(0, bad, 1))  # type: ignore[misc]
        calls.append(lambda bad=bad: policy.update(0, bad, None))  # type: ignore[misc]
    for shape in (good[:, :-1], good[0], good[:0], "items", None):
        calls.append(lambda items=shape: policy.recommend(0, items, 1))  # type: ignore[misc]
        calls.append(lambda items=shape: policy.update(0, items, None))  # type: ignore[misc]
    return calls


POLICY_CHECKS: tuple[Check, ...] = (
    lists_are_distinct_rows,
    recommend_learns_nothing,
    replay_rebuilds_the_state,
    loaded_takes_the_same_step,
    saved_continues_to_the_bit,
    state_is_a_copy,
    inputs_may_be_read_only,
    unseen_items_teach_nothing,
    loose_items_are_a_catalogue,
    bad_input_changes_nothing,
)
