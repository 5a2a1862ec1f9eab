"""Experiments: models of one store that users are assigned to, and what the log says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import ABTest, InterleavingScreen, Verdict, assign, team_draft
from clubcascade.service.arguments import Ask
from clubcascade.service.decision import Decision
from clubcascade.service.events import Answered, Event, ExperimentPut, UserGone
from clubcascade.service.model import Model

MODES = ("ab", "interleave")
MOST_ARMS = 10
POINTS = 100
"""Points of a curve, at most."""
MOST_ITEMS = 100_000
"""Items that are counted, about."""
ASKED = 0.05
"""The relative difference that one wants to see."""

Numbered = Iterable[tuple[int, Event]]


@dataclass(frozen=True)
class Experiment:
    """An experiment that runs: whose list a user gets, always the same arm's.

    Parameters
    ----------
    put
        The event that made it.
    position
        Where that is in the log; with the name it is the salt, so another experiment of this name
        assigns all users anew.
    ended
        Where in the log it ended; 0 while it runs.
    """

    put: ExperimentPut
    position: int
    ended: int = 0

    @property
    def id(self) -> str:
        """Name and position, as decisions have it."""
        return f"{self.put.name}/{self.position}"

    @property
    def models(self) -> list[str]:
        """The models of the arms; all of them learn from all lists of the experiment."""
        return list(dict.fromkeys(arm[1] for arm in self.put.arms))

    def arm_of(self, user: Hashable) -> tuple[str | None, str, float]:
        """Return the arm of a user, its model and its share of exploring lists.

        If lists are interleaved, no arm, and the first one's model.
        """
        arms = self.put.arms
        if self.put.mode == "interleave":
            return None, arms[0][1], arms[0][3]
        mine = assign(user, {arm[0]: arm[2] for arm in arms}, self.id)
        return next((name, model, explore) for name, model, _, explore in arms if name == mine)


def name_of(experiment: str | None) -> str | None:
    """Return the name in an experiment's id.

    >>> name_of("spring/17")
    'spring'
    """
    return None if experiment is None else experiment.rpartition("/")[0]


def read_arms(
    arms: Any, mode: Any, models: Mapping[str, Model]
) -> tuple[tuple[str, str, float, float], ...]:
    """Return the arms of an experiment: name, model, shares of users and of exploring lists.

    Where an arm does not say how many of its lists explore, it is as many as of its model.
    """
    validation.choice("mode", mode, MODES)
    if not isinstance(arms, Mapping) or not 2 <= len(arms) <= MOST_ARMS:
        got = len(arms) if isinstance(arms, Mapping) else repr(arms)
        raise InvalidArgument(f"arms must be 2 to {MOST_ARMS}, by their names, got {got}")
    if mode == "interleave" and len(arms) != 2:
        raise InvalidArgument(f"arms must be 2 to be interleaved, got {len(arms)}")
    found = []
    for name, arm in arms.items():
        if not (str(name).strip() and str(name).isprintable()):
            raise InvalidArgument(f"arms must have names that can be read, got {name!r}")
        if not isinstance(arm, Sequence) or isinstance(arm, str) or not 2 <= len(arm) <= 3:
            raise InvalidArgument(
                f"arms[{name!r}] must be a model, a share of users and, if it is not to be the "
                f"model's, a share of lists that explore, got {arm!r}"
            )
        share = validation.number(f"arms[{name!r}].share", arm[1], low=0, high=1e100)
        explore: Any = (*arm, None)[2]
        if explore is None:
            explore = models[arm[0]].explore if arm[0] in models else 1.0
        explore = validation.number(f"arms[{name!r}].explore", explore, low=0, high=1)
        found.append((str(name), str(arm[0]), share, explore))
    if len({(arm[1], arm[3]) for arm in found}) < len(found):
        raise InvalidArgument("arms must differ in model or explore, got one twice")
    if mode == "ab" and sum(arm[2] > 0 for arm in found) < 2:
        raise InvalidArgument("arms must have a share above 0, two of them at least")
    return tuple(found)


def check_models(models: Sequence[Model], explore: Sequence[float]) -> None:
    """Raise unless all have the same items (else it is not the rankings that differ), and explore.

    A model that does not say what it expects has no list without exploration.
    """
    first = models[0].catalog
    for model, share in zip(models, explore, strict=True):
        if share < 1:
            model.check_greedy()
    n_features = {model.policy.n_features or 0 for model in models} - {0}
    if len(n_features) > 1:
        raise InvalidArgument(f"arms must have one number of features, got {sorted(n_features)}")
    for model in models[1:]:
        other = model.catalog
        same = (first is None) == (other is None)
        if first is not None and other is not None:
            same = list(first.ids) == list(other.ids) and np.array_equal(first._rows, other._rows)
        if not same:
            raise InvalidArgument(
                f"arms must be of models with the same items in the same order, got other ones in "
                f"{models[0].name!r} and {model.name!r}"
            )


def check_alike(models: Sequence[Model], ask: Ask) -> None:
    """Raise if a request would narrow the items of one arm in another way than of the others."""
    first = models[0]
    if ask.filter is not None and any(each.metadata != first.metadata for each in models):
        raise InvalidArgument("filter must be left out: the arms have other metadata of items")
    if ask.exclude_seen and len({len(each.start.get("users", ())) for each in models}) > 1:
        raise InvalidArgument("exclude_seen must be false: one arm knows clicks of its training")


def interleaved(
    a: Sequence[int], b: Sequence[int], seed: Sequence[int]
) -> tuple[list[int], tuple[int, ...]]:
    """Return one list of two, and which of its items only one of them has.

    >>> interleaved([3, 1], [3, 5], [1, 0])
    ([3, 1], (0, 1))
    """
    rows = team_draft(a, b, np.random.default_rng(seed)).tolist()
    return rows, tuple(0 if row in a and row in b else 1 if row in a else 2 for row in rows)


@dataclass
class Curve:
    """An interval by the number of lists: at most ``POINTS`` points, fixed by the log alone."""

    step: int = 100
    points: list[tuple[int, float, float]] = field(default_factory=list)

    def add(self, lists: int, interval: Callable[[], tuple[float, float]]) -> None:
        """Take a point if it is time for one; every second is dropped when they are too many."""
        if lists % self.step:
            return
        self.points.append((lists, *interval()))
        if len(self.points) >= POINTS:
            self.step *= 2
            self.points = self.points[1::2]


@dataclass
class Shown:
    """What exploration costs and buys an arm: its lists and clicks, and how many items it tries."""

    lists: int = 0
    clicks: int = 0
    items: set[Hashable] = field(default_factory=set)

    def add(self, decision: Decision, clicked: bool) -> None:
        """Count a list."""
        self.lists += not decision.greedy
        self.clicks += clicked and not decision.greedy
        if len(self.items) < MOST_ITEMS:
            self.items.update(decision.items)


class Results:
    """What the log says of an experiment so far: a fold, the same on all servers.

    A list counts once its answer is in the log: a click, no click, late or not, or none at all
    ("expired": a list without a click). Lists that still wait do not count yet, nor do those that
    wait when it ends.

    Parameters
    ----------
    experiment
        Which one.
    without
        Positions of those who were forgotten.
    """

    def __init__(self, experiment: Experiment, without: Iterable[int] = ()) -> None:
        self.experiment, self.position = experiment, experiment.position
        self.without = set(without)
        put = experiment.put
        alike = put.mode == "interleave"
        served = [arm[0] for arm in put.arms if arm[2] > 0 or alike]
        self.lists = self.clicks = 0
        self._users: set[Hashable] = set()
        self._test = None if alike else ABTest(served, difference=ASKED)
        self._screen = InterleavingScreen()
        self._curves = {arm: Curve() for arm in served[1:]}
        self._shown = {arm: Shown() for arm in served}

    def follow(self, events: Callable[[int], Numbered]) -> Results:
        """Take in the next events; return this, or all anew if one of them forgets someone."""
        gone: set[int] = set()
        for position, event in events(self.position):
            self.position = position
            if isinstance(event, UserGone):  # what they answered may not be erased yet
                gone.update(event.positions)
            elif isinstance(event, Answered) and event.decision.experiment == self.experiment.id:
                if position not in self.without:
                    self._count(event)
        if gone <= self.without:
            return self
        return Results(self.experiment, self.without | gone).follow(events)

    def _count(self, event: Answered) -> None:
        decision, clicks = event.decision, event.given[1]
        self.lists, self.clicks = self.lists + 1, self.clicks + bool(clicks)
        self._users.add(decision.user)
        if self._test is None:
            found = [(decision.teams or ())[place] for place in clicks]
            self._screen.add(decision.user, found.count(1), found.count(2))
            (curve,) = self._curves.values()
            curve.add(self.lists, lambda: self._screen.share)
            return
        assert decision.arm is not None
        self._test.add(decision.arm, decision.user, bool(clicks))
        self._shown[decision.arm].add(decision, bool(clicks))
        for arm, curve in self._curves.items():
            curve.add(self.lists, lambda arm=arm: self._test.verdict(arm).difference)  # type: ignore[misc]

    def tell(self) -> dict[str, Any]:
        """Return all of it, as JSON can say it."""
        put, test = self.experiment.put, self._test
        told: dict[str, Any] = {
            "experiment": put.name,
            "mode": put.mode,
            "since": self.experiment.position,
            "ended": self.experiment.ended or None,
            "position": self.position,
            "lists": self.lists,
            "users": len(self._users),
            "clicks": self.clicks,
            "arms": [self._arm(*arm) for arm in put.arms],
        }
        if test is None:
            (curve,) = self._curves.values()
            return told | {"screen": self._screened(curve), "verdicts": []}
        curves = self._curves.items()
        verdicts = [_verdict(test.verdict(arm), curve) for arm, curve in curves]
        return told | {"screen": None, "verdicts": verdicts}

    def _arm(self, name: str, model: str, share: float, explore: float) -> dict[str, Any]:
        told: dict[str, Any] = {"arm": name, "model": model, "share": share, "explore": explore}
        if self._test is not None:
            sums = self._test.arms.get(name)
            told["users"] = 0 if sums is None else sums.users
            told["lists"] = 0 if sums is None else int(sums.moments[1])
            told["clicks"] = 0 if sums is None else int(sums.moments[0])
            shown = self._shown.get(name, Shown())
            told |= {"exploring_lists": shown.lists, "exploring_clicks": shown.clicks}
            told["items"] = len(shown.items)
        return told

    def _screened(self, curve: Curve) -> dict[str, Any]:
        first, second = (arm[0] for arm in self.experiment.put.arms)
        said = str(self._screen).replace("B gets", f"{second} (against {first}) gets")
        return {"sentence": said, "share": list(self._screen.share), "curve": _points(curve)}


def _verdict(verdict: Verdict, curve: Curve) -> dict[str, Any]:
    return {
        "arm": verdict.arm,
        "against": verdict.against,
        "sentence": str(verdict),
        "decision": verdict.decision,
        "rates": [_finite(each) for each in verdict.rates],
        "difference": [_finite(each) for each in verdict.difference],
        "relative": [_finite(each) for each in verdict.relative],
        "asked": verdict.asked,
        "more_lists": _finite(verdict.more_lists),
        "curve": _points(curve),
    }


def _points(curve: Curve) -> list[list[float | None]]:
    return [[_finite(value) for value in point] for point in curve.points]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
