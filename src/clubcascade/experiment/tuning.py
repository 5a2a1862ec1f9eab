"""Tuning: cyclic coordinate search over lines of values, with one budget for every policy.

The search starts from the best of a coarse grid: all values of the first line, with two values of
the second and the middle of the others. (From a single point it may never find a good pair, such as
a large alpha with a large beta.) Then it tries all values of one line while the others are held,
moves to the best, and goes on with the next line, until a sweep over all lines changes nothing or
the budget is spent. Where the best is an end of its line, the line is extended.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TUNING = "tuning.csv"
"""The table of all points that were tried, in a result folder."""

Point = dict[str, Any]
"""A value for every parameter that is tuned."""

EXTENSIONS = 3
"""How often an end of a line is extended."""
NEW_VALUES = 2
"""How many values an extension adds."""


@dataclass
class Line:
    """The values of one parameter: those of the file, in their order, then those of extensions."""

    values: list[Any]
    extensions: dict[str, int] = field(default_factory=lambda: {"low": 0, "high": 0})
    bounds: set[str] = field(default_factory=set)
    """The ends beyond which the parameter has no values."""

    @property
    def middle(self) -> Any:
        """The middle value; the lower one of two."""
        return self.values[(len(self.values) - 1) // 2]

    @property
    def spread(self) -> list[Any]:
        """Two values at about a quarter and three quarters of the line.

        >>> Line([0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0]).spread
        [0.1, 1.0]
        """
        last = len(self.values) - 1
        return list(dict.fromkeys(self.values[round(last * part)] for part in (0.25, 0.8)))

    def end(self, value: Any, tried: Sequence[Any]) -> str:
        """Say at which end of the tried values a value is, "low" or "high"; "" at neither.

        Infinity, zero and a bound of the parameter are no ends: there is nothing beyond them.
        """
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in tried)
        if not numbers or len(set(tried)) < 2 or value == 0 or math.isinf(value):
            return ""
        side = {min(tried): "low", max(tried): "high"}.get(value, "")
        return "" if side in self.bounds else side

    def extend(self, value: Any, possible: Callable[[Any], bool]) -> bool:
        """Add values beyond a value that is an end, by the last ratio; say whether there are any.

        >>> line = Line([0.1, 1.0, 4.0])
        >>> line.extend(4.0, lambda value: True), line.values
        (True, [0.1, 1.0, 4.0, 16.0, 64.0])
        """
        side = self.end(value, self.values)
        if not side or self.extensions[side] == EXTENSIONS:
            return False
        ordered = sorted(set(self.values), reverse=side == "low")
        last, ratio = ordered[-1], ordered[-1] / ordered[-2] if ordered[-2] else 0.0
        if ratio <= 0:
            return False
        steps = [float(f"{last * ratio**n:.4g}") for n in range(1, NEW_VALUES + 1)]
        if all(isinstance(v, int) for v in self.values):
            steps = [round(step) for step in steps if round(step) not in (0, last)]
        new = [step for step in dict.fromkeys(steps) if possible(step)]
        if len(new) < NEW_VALUES:
            self.bounds.add(side)
        self.extensions[side] += 1
        self.values += new
        return bool(new)


class Search:
    """The search for the best point of one policy in one panel.

    ``tune`` has the line of values of each parameter, in the order in which they are searched; at
    most ``budget`` distinct points are tried; ``possible`` says whether a parameter (by name) can
    have a value.

    Examples
    --------
    >>> search = Search({"beta": (0.1, 1.0, 10.0)}, budget=48)
    >>> steps = search.steps()
    >>> next(steps)
    [{'beta': 0.1}, {'beta': 1.0}, {'beta': 10.0}]
    >>> steps.send([5.0, 3.0, 4.0])
    Traceback (most recent call last):
        ...
    StopIteration
    >>> search.best, search.edge, search.spent
    ({'beta': 1.0}, '', False)
    """

    def __init__(
        self,
        tune: Mapping[str, Sequence[Any]],
        budget: int,
        possible: Callable[[str, Any], bool] = lambda name, value: True,
    ) -> None:
        self._lines = {name: Line(list(values)) for name, values in tune.items()}
        self._budget, self._possible = budget, possible
        self._scores: dict[str, float] = {}
        self.tried: list[Point] = []
        """The points in the order in which they were tried."""
        self.best: Point = {name: line.middle for name, line in self._lines.items()}
        """The best point so far; at first the one to start from."""
        self.spent = False
        """Whether the search would have gone on, had the budget been larger."""

    def steps(self) -> Generator[list[Point], Sequence[float], None]:
        """Yield points to try; each step is sent their scores, low is good, NaN is a failure."""
        yield from self._coarse()
        before: Point = {}
        while self.best != before and not self.spent:
            before = self.best
            for name in self._lines:
                if not self.spent:
                    yield from self._along(name)

    @property
    def most(self) -> int:
        """How many points are tried at most, as far as that can be known by now."""
        return min(self._budget, math.prod(len(line.values) for line in self._lines.values()))

    @property
    def cross(self) -> list[Point]:
        """The best point with each value of each line in its turn."""
        lines = self._lines.items()
        return [{**self.best, name: value} for name, line in lines for value in line.values]

    @property
    def found(self) -> bool:
        """Whether the best point has a score: not where everything failed."""
        return not math.isnan(self._score(self.best))

    @property
    def edge(self) -> str:
        """The parameters whose best value is an end of what was tried, such as "reg low"."""
        ends = []
        for name, line in self._lines.items():
            tried = [point[name] for point in self.tried]
            if side := line.end(self.best[name], tried):
                ends.append(f"{name} {side}")
        return ", ".join(ends)

    def _coarse(self) -> Generator[list[Point], Sequence[float], None]:
        """Try the coarse grid, and move to its best point."""
        names = list(self._lines)
        if len(names) < 2:
            return
        first, second = (self._lines[name] for name in names[:2])
        points = [
            {**self.best, names[0]: one, names[1]: other}
            for other in second.spread
            for one in first.values
        ][: self._budget]
        yield from self._try(points)
        self._move(points)

    def _try(self, points: list[Point]) -> Generator[list[Point], Sequence[float], None]:
        if points:
            scores = yield points
            self._scores.update(zip(map(repr, points), scores, strict=True))
            self.tried += points

    def _move(self, points: list[Point]) -> None:
        good = [point for point in points if not math.isnan(self._score(point))]
        self.best = min(good, key=self._score, default=self.best)

    def _along(self, name: str) -> Generator[list[Point], Sequence[float], None]:
        """Try all values of a line, extend it where its best is an end, and move to the best."""
        line = self._lines[name]
        while True:
            points = [{**self.best, name: value} for value in line.values]
            new = self._affordable([p for p in points if repr(p) not in self._scores], points)
            yield from self._try(new)
            self._move(points)
            value = self.best[name]
            if self.spent or not line.extend(value, lambda new: self._possible(name, new)):
                return

    def _affordable(self, new: list[Point], points: list[Point]) -> list[Point]:
        """Return as many points as the budget has left, those next to the best one first."""
        left = self._budget - len(self._scores)
        if len(new) <= left:
            return new
        self.spent = True
        here = points.index(self.best)
        return sorted(new, key=lambda point: abs(points.index(point) - here))[:left]

    def _score(self, point: Point) -> float:
        return self._scores.get(repr(point), math.nan)
