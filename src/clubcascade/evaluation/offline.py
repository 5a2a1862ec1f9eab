"""Off-policy evaluation: the clicks per list of a frozen policy, where a log can tell them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats, Ints, Policy
from clubcascade.core.state import same
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation.log import Log
from clubcascade.evaluation.redraw import Progress, terms, user_codes

Interval = tuple[float, float]
FIRST_WEIGHT = 0.8, 1.2
"""Where the mean weight of the first place must be; 1 if the log supports the policy."""
WHOLE_WEIGHT = 0.5
"""The least mean weight of whole lists: the rest is the word of the reward model alone."""
LEAST_LISTS, LEAST_USERS = 100.0, 30
"""Effective sample size of whole lists, and users, that an estimate needs."""
REPEATS = 1000
"""Bootstrap samples of the users."""


@dataclass(frozen=True)
class Evaluation:
    """What a log says about a policy; its text is sentences.

    Attributes
    ----------
    reasons
        Why it cannot be told whether the policy is better; empty if it can.
    logged
        Clicks per list of the log.
    estimate, interval
        Clicks per list of the policy (Cascade-DR), and 95% bootstrap by user; None if not computed.
    difference
        95% interval of the policy's clicks per list minus the log's.
    item_wise
        The item-wise doubly robust estimate's interval, which assumes no effect of position.
    bracket
        Bounds of the policy's clicks per list that need no support: prefix weights below, lists
        without a click above. None if they exclude each other: then the weights are wrong.
    first_weight, whole_weight, effective_lists
        Mean weights of the first place and of whole lists, and effective sample size of the latter.
    lists, users
        How many were evaluated.
    """

    reasons: tuple[str, ...]
    lists: int = 0
    users: int = 0
    logged: float | None = None
    first_weight: float | None = None
    whole_weight: float | None = None
    effective_lists: float | None = None
    bracket: Interval | None = None
    estimate: float | None = None
    interval: Interval | None = None
    difference: Interval | None = None
    item_wise: Interval | None = None

    @property
    def can_tell(self) -> bool:
        """Whether the log tells which is better."""
        return not self.reasons

    def __str__(self) -> str:
        said = []
        if self.reasons:
            said.append(f"cannot tell: {'; '.join(self.reasons)}. An online test can")
        if self.estimate is not None and self.difference is not None:
            low, high = self.difference
            said.append(
                f"the policy gets {self.estimate:.3f} clicks a list ({_span(self.interval)}), "
                f"the log {self.logged:.3f}: between {low:+.3f} and {high:+.3f}"
            )
            if self.item_wise is not None:
                said.append(
                    f"{_span(self.item_wise)} item-wise, which assumes no effect of position"
                )
        if self.reasons and self.bracket is not None:
            said.append(f"{_span(self.bracket)} clicks a list, the log {self.logged:.3f}")
        return "\n".join(said)


def evaluate(
    log: Log,
    policy: Policy,
    *,
    learned_until: int | None = None,
    logging: Policy | None = None,
    first: int | None = None,
    draws: int = 64,
    sample: float = 1.0,
    workers: int = 1,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> Evaluation:
    """Estimate the clicks per list of a frozen policy from the log of another one.

    The logging model is rebuilt at the position of every list, lists are drawn from it again, and
    its own state is the reward model of a doubly robust estimate (Cascade-DR). Where the log does
    not support the policy, the answer is "cannot tell", with the reason.

    Parameters
    ----------
    log
        The lists, answered or not.
    policy
        The policy to evaluate, as it is: it learns nothing here.
    learned_until
        Position of the log that the policy has learned up to: 0 if it has learned nothing of it,
        None if it keeps learning. By default 0 for a policy that has learned nothing at all. A
        policy does well on the lists it learned from, for no reason.
    logging
        The logging model as it was when the log began; None if the log has propensities, or can
        rebuild the model itself.
    first
        Evaluate lists made at this position or later; by default from ``learned_until`` on.
    draws
        Lists that are drawn again at every position.
    sample
        Share of the lists to use, for a quick look.
    workers
        Processes; each replays the log, and draws its part of the lists.
    seed
        Seed of the bootstrap and of the sample.
    progress
        Called with the number of lists done and their total; not with several workers.

    Examples
    --------
    >>> import clubcascade as cc
    >>> items = np.eye(4)
    >>> logger, log = cc.Random(seed=1), []
    >>> for n in range(2000):
    ...     rows = logger.recommend(n % 100, items, k=1)
    ...     log.append((n % 100, rows, 0 if rows[0] == n % 2 else None))
    >>> users, shown, clicks = zip(*log)
    >>> policy = cc.C3UCB(n_features=4, beta=0.0)
    >>> policy.update("anyone", items[[1]], click=0)
    >>> told = evaluate(
    ...     Log(users, shown, clicks, items, propensities="uniform"), policy, learned_until=0
    ... )
    >>> told.can_tell, round(told.estimate, 1), round(told.logged, 2)
    (True, 0.5, 0.24)
    """
    draws = validation.whole("draws", draws, low=2, high=10_000)
    sample = validation.number("sample", sample, low=0, high=1, open_low=True)
    workers = validation.whole("workers", workers, low=1, high=256)
    seed = validation.whole("seed", seed, low=0)
    if logging is not None and (log.uniform or log.propensities is not None):
        raise InvalidArgument("logging must be None where the log has propensities")
    if learned_until is None and same(policy._learned(), policy.fresh()._learned()):
        learned_until = 0
    reasons = _missing(log, logging, learned_until, first)
    if reasons:
        return Evaluation(reasons, len(log), len(set(log.users)))
    rng = np.random.default_rng(seed)
    made = np.arange(len(log)) if log.made is None else log.made
    start = (learned_until or 0) if first is None else first
    chosen = np.argsort(made, kind="stable")
    chosen = chosen[made[chosen] >= start]
    chosen = chosen[rng.random(len(chosen)) < sample]
    users = user_codes([log.users[at] for at in chosen.tolist()])
    n_users = len(set(users.tolist()))
    if n_users < LEAST_USERS:
        few = f"{n_users} users in the window are below {LEAST_USERS}"
        return Evaluation((few,), len(chosen), n_users)
    found = terms(log, policy, logging, chosen, draws, seed, workers, progress)
    return judge(*found, log.first[chosen], users, rng)


def _missing(
    log: Log, logging: Policy | None, learned_until: int | None, first: int | None
) -> tuple[str, ...]:
    """Return the reasons that need no computing."""
    reasons = []
    if not len(log):
        reasons.append("the log is empty")
    if log.candidates is None:
        reasons.append("the candidates of the lists are missing")
    elif unknown := sum(log.items(at) is None for at in range(len(log))):
        reasons.append(f"the candidates of {unknown} of {len(log)} lists are missing")
    if log.propensities is None and not log.uniform:
        if log.made is None:
            reasons.append("the positions of the models that made the lists are missing")
        if logging is None and log.models is None:
            reasons.append("the logging model is missing, and there are no propensities")
    if learned_until is None:
        reasons.append("the policy keeps learning; evaluate a frozen copy")
    elif first is not None and first < learned_until:
        reasons.append(
            f"the policy learned from the evaluated window (up to position {learned_until}, "
            f"the window begins at {first})"
        )
    return tuple(reasons)


def judge(
    weights: Floats, found: Floats, click: Ints, users: Ints, rng: np.random.Generator
) -> Evaluation:
    """Return what weights and terms of lists say, or why they say nothing."""
    reward = (click >= 0).astype(np.float64)
    whole = weights[:, -1]
    at_click = weights[np.arange(len(click)), np.maximum(click, 0)]
    low, high = reward * at_click, 1 - (1 - reward) * whole
    columns = np.column_stack([found[:, :2], reward, low, high, found[:, 2]])
    means, repeats = columns.mean(0), bootstrap(columns, users, rng)
    ends = np.quantile(repeats, [0.025, 0.975], axis=0)
    first = float(weights[:, 0].mean())
    effective = float(whole.sum() ** 2 / max((whole**2).sum(), 1e-300))
    least, most = max(float(ends[0, 3]), 0.0), min(float(ends[1, 4]), 1.0)
    known: dict[str, Any] = {
        "lists": len(click),
        "users": int(users.max()) + 1,
        "logged": float(means[2]),
        "first_weight": first,
        "whole_weight": float(whole.mean()),
        "effective_lists": effective,
        "bracket": (least, most) if least <= most else None,  # None: the weights are wrong
    }
    reasons = []
    if abs(means[5]) > 4 * repeats[:, 5].std() + 1e-9:
        reasons.append("the logging model does not draw the logged lists: wrong model or positions")
    if not FIRST_WEIGHT[0] <= first <= FIRST_WEIGHT[1]:
        bounds = f"{FIRST_WEIGHT[0]} to {FIRST_WEIGHT[1]}"
        reasons.append(f"the mean weight of the first place is {first:.2f}, not within {bounds}")
    if whole.mean() < WHOLE_WEIGHT:
        reasons.append(
            f"the mean weight of whole lists is {whole.mean():.2f}, below {WHOLE_WEIGHT}"
        )
    if effective < LEAST_LISTS:
        reasons.append(
            f"the effective sample size of whole lists is {effective:.0f}, below {LEAST_LISTS:.0f}"
        )
    if reasons:
        return Evaluation(tuple(reasons), **known)
    apart = np.quantile(repeats[:, 0] - repeats[:, 2], [0.025, 0.975])
    if apart[0] <= 0 <= apart[1]:
        reasons.append("the interval of the difference contains 0")
    by_item = None if np.isnan(means[1]) else _pair(ends[:, 1])
    return Evaluation(
        tuple(reasons), **known, estimate=float(means[0]), interval=_pair(ends[:, 0]),
        difference=_pair(apart), item_wise=by_item,
    )  # fmt: skip


def bootstrap(columns: Floats, users: Ints, rng: np.random.Generator) -> Floats:
    """Return means per list of the columns, for samples of the users with replacement."""
    n = int(users.max()) + 1
    sums = np.column_stack([np.bincount(users, c, n) for c in [*columns.T, np.ones(len(users))]])
    found = np.empty((REPEATS, sums.shape[1]))
    for at in range(REPEATS):
        found[at] = np.bincount(rng.integers(0, n, n), minlength=n) @ sums
    means: Floats = found[:, :-1] / found[:, -1:]
    return means


def replay(log: Log, policy: Policy) -> tuple[int, float]:
    """Return how many lists of a uniformly random log a policy would have shown, and their clicks.

    The one way to evaluate a policy that keeps learning: it learns from the lists that it would
    have shown, and from these only (Li, Chu, Langford and Wang 2011). Exact, and wasteful: one list
    in ``n (n - 1) ...`` is used.

    Examples
    --------
    >>> import clubcascade as cc
    >>> shown, clicks = [[0], [1], [0], [1]], [0, None, 0, None]
    >>> log = Log(list("abab"), shown, clicks, np.eye(2), propensities="uniform")
    >>> replay(log, cc.C3UCB(n_features=2))
    (2, 1.0)
    """
    if not log.uniform or log.candidates is None:
        raise InvalidArgument("log must be uniformly random, with candidates, to be replayed")
    learner, lists, clicks = copy.deepcopy(policy), 0, 0
    for at, user in enumerate(log.users):
        items: Any = log.items(at)
        if np.array_equal(learner.recommend(user, items, len(log.rows(at))), log.rows(at)):
            learner.update(user, items[log.rows(at)], log.feedback[at])
            lists, clicks = lists + 1, clicks + (log.first[at] >= 0)
    return lists, float(clicks) / lists if lists else float("nan")


def _pair(values: Any) -> Interval:
    return float(values[0]), float(values[1])


def _span(interval: Interval | None) -> str:
    assert interval is not None
    return f"between {interval[0]:.3f} and {interval[1]:.3f}"
