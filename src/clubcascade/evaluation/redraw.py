"""What every list of a log says about a policy: weights and doubly robust terms."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Policy
from clubcascade.errors import UnknownUser
from clubcascade.evaluation.log import Log

Progress = Callable[[int, int], None]


def terms(
    log: Log,
    policy: Policy,
    logging: Policy | None,
    chosen: Ints,
    draws: int,
    seed: int,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> tuple[Floats, Floats]:
    """Return the weights of prefixes, and the terms, of the chosen lists in their order.

    The terms are Cascade-DR, item-wise DR, and how unlike a redrawn list the logged one is: 0 in
    expectation if ``logging`` made the log.
    """
    if workers > 1:
        parts = np.array_split(chosen, workers)
        job = partial(terms, log, policy, logging, draws=draws, seed=seed)
        with ProcessPoolExecutor(workers) as pool:
            done = list(pool.map(job, parts))
        return np.concatenate([w for w, _ in done]), np.concatenate([t for _, t in done])
    weights, found = np.empty((len(chosen), log.k)), np.empty((len(chosen), 3))
    rng, evaluated, rates = (
        np.random.default_rng(seed),
        copy.deepcopy(policy),
        _rates(log.first[chosen], log.lengths[chosen]),
    )
    n_own = draws if "draws" in policy.state() else 1  # a policy that does not draw has one list
    for n, (at, model) in enumerate(replayed(log, logging, chosen)):
        user, items = log.users[at], log.items(at)
        theta = attraction(model or evaluated, user, items, float(rates[n]))
        drawn = _logged_lists(log, at, model, draws, rng)
        own = _own_lists(log, at, evaluated, n_own)
        weight, found[n] = list_terms(
            theta, log.rows(at), int(log.first[at]), drawn, own, log.prefix_propensity(at)
        )
        weights[n] = weight[-1]  # behind its end a shorter list has the weight of the whole
        weights[n, : len(weight)] = weight
        if n % 100 == 99:
            progress(n + 1, len(chosen))
    return weights, found


def list_terms(
    theta: Floats, shown: Ints, click: int, drawn: Ints | None, own: Ints, known: Floats | None
) -> tuple[Floats, Floats]:
    """Return the weights of a list's prefixes, and its terms (see :func:`terms`).

    Parameters
    ----------
    theta
        Attraction of every candidate, by a model that has not seen this list.
    shown, click
        The logged list, and its first clicked place, -1 for none.
    drawn, own
        Lists drawn again of the logging policy, if there is one, and lists of the evaluated one.
    known
        Probabilities of the prefixes of ``shown``, where they are known.
    """
    k = len(shown)
    inverse, m = (1 / known if known is not None else None), 0 if drawn is None else len(drawn)
    if inverse is None:
        assert drawn is not None
        inverse = (m + 1) / (1 + np.cumprod(drawn == shown, axis=1).sum(0))
    same = np.cumprod(own == shown, axis=1)
    seen = k if click < 0 else click + 1
    error = (np.arange(k) == click) - theta[shown]
    error[seen:] = 0.0  # what nobody looked at says nothing
    passed = 1 - theta[own]
    before = np.cumprod(np.column_stack([np.ones(len(own)), passed[:, :-1]]), axis=1)
    behind = np.column_stack([passed[:, 1:], np.ones(len(own))])
    behind = np.cumprod(behind[:, ::-1], axis=1)[:, ::-1]
    model = 1 - before[:, -1] * passed[:, -1]
    cascade = (model + (same * behind) @ (inverse * error)).mean()
    corrections = np.zeros(len(theta))
    looks = 1 / inverse if k == 1 and known is not None else _examination(theta, drawn, m)[shown]
    corrections[shown] = error / np.maximum(looks, 1 / (m + 1) if m else 0.0)
    by_item = (model + (corrections[own] * before * behind).sum(1)).mean()
    return same.mean(0) * inverse, np.array([cascade, by_item, _unlike(theta, shown, drawn)])


def _unlike(theta: Floats, shown: Ints, drawn: Ints | None) -> float:
    """Compare the logged first item with a redrawn one: 0 in expectation, as they are alike."""
    if drawn is None:
        return 0.0
    one, rest = drawn[0, 0], drawn[1:, 0]
    return float(np.mean(rest == shown[0]) - np.mean(rest == one) + theta[shown[0]] - theta[one])


def _examination(theta: Floats, drawn: Ints | None, m: int) -> Floats:
    """Return the probability that each candidate is looked at; NaN where lists are not redrawn."""
    if drawn is None:
        return np.full(len(theta), np.nan)
    passed = np.column_stack([np.ones(m), 1 - theta[drawn[:, :-1]]])
    alive = np.cumprod(passed, axis=1)
    return np.bincount(drawn.ravel(), alive.ravel(), len(theta)) / m


def replayed(log: Log, logging: Policy | None, chosen: Ints) -> Iterator[tuple[int, Policy | None]]:
    """Yield lists in the order they were made, each with the logging model that made it."""
    if log.uniform or log.propensities is not None:
        yield from ((at, None) for at in chosen.tolist())
        return
    assert log.made is not None and log.answered is not None
    if log.models is not None and logging is None:
        yield from zip(chosen.tolist(), log.models(log.made[chosen].tolist()), strict=True)
        return
    assert logging is not None
    model, learned = copy.deepcopy(logging), 0
    answers = np.argsort(log.answered, kind="stable")
    answers = answers[log.answered[answers] >= 0].tolist()
    for at in chosen.tolist():
        while learned < len(answers) and log.answered[answers[learned]] <= log.made[at]:
            one = answers[learned]
            items: Any = log.items(one)
            model.update(log.users[one], items[log.rows(one)], log.feedback[one])
            learned += 1
        yield at, model


def _rates(click: Ints, k: Ints) -> Floats:
    """Return the click rate per examined item before each list."""
    hits, looks = (click >= 0) * 1.0, np.where(click < 0, k, click + 1)
    before: Floats = (1 + hits.cumsum() - hits) / (2 + looks.cumsum() - looks)
    return before


def _logged_lists(
    log: Log, at: int, model: Policy | None, draws: int, rng: np.random.Generator
) -> Ints | None:
    if model is not None:
        return lists_of(model, log.users[at], log.items(at), int(log.lengths[at]), draws)
    if not log.uniform:
        return None
    return np.argsort(rng.random((draws, len(log.items(at)))), axis=1)[:, : log.lengths[at]]


def _own_lists(log: Log, at: int, policy: Policy, draws: int) -> Ints:
    if log.places is None:
        return lists_of(policy, log.users[at], log.items(at), int(log.lengths[at]), draws)
    place = int(log.places[at])
    longer = lists_of(policy, log.users[at], log.items(at), place + 1, draws)
    return longer[:, place:]


def lists_of(policy: Any, user: Hashable, items: Any, k: int, draws: int) -> Ints:
    """Return lists that a policy draws for one user, one after another."""
    if hasattr(policy, "recommend_many"):
        many: Ints = policy.recommend_many([user] * draws, items, k)
        return many
    return np.array([policy.recommend(user, items, k) for _ in range(draws)])


def attraction(model: Any, user: Hashable, items: Any, rate: float) -> Floats:
    """Return what a model expects of every candidate, the click rate so far if it cannot say."""
    try:
        return np.clip(np.asarray(model.scores(user, items), np.float64), 0.0, 1.0)
    except (AttributeError, UnknownUser):
        return np.full(len(items), rate)


def user_codes(users: Sequence[Hashable]) -> Ints:
    """Return a number per user, in the order of their first lists."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(user, len(known)) for user in users])
