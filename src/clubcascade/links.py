"""Link functions: how the probability of a click follows from ``weights . x``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument, unknown_name
from clubcascade.kernels import links as kernels

REACH = 32.0
"""An own link is tabulated on [-32, 32] and continued as a straight line."""
POINTS = 4097
"""Points of the table: the distance of two is 1/64."""
_GRID = np.linspace(-REACH, REACH, POINTS)
_NEAR = np.abs(_GRID) <= 2.0
_SLACK = 1e-3

Function = Callable[[Any], Any]


class Link:
    """A strictly increasing link function mu and its slope, given by anyone.

    The function is tabulated once, at 4,097 points of [-32, 32] with its slopes, and the compiled
    policies read the table by cubic interpolation: no function of yours is called while a policy
    runs, none needs to be compiled, and a policy can be saved with its link.

    Parameters
    ----------
    mu
        The expected click as a function of ``weights . x``; called with one float at a time.
    mu_prime
        Its derivative.
    name
        What people call it.
    lipschitz
        Largest slope, kappa_mu; by default the largest in the table. A smaller one may be given
        where the table's is never met: at least the largest on [-2, 2].

    Attributes
    ----------
    name
        What people call it.
    slope
        Smallest slope on [-2, 2], c_mu of Theorem 4.
    lipschitz
        Largest slope, kappa_mu.

    Examples
    --------
    >>> import math
    >>> link = Link(lambda z: 0.5 + math.atan(z) / math.pi, lambda z: 1 / (math.pi * (1 + z * z)))
    >>> round(link.slope, 4), round(link.lipschitz, 4)
    (0.0637, 0.3183)
    >>> round(float(link.mu(1.0)), 9)
    0.75
    >>> Link(lambda z: -z, lambda z: -1.0)
    Traceback (most recent call last):
        ...
    clubcascade.errors.InvalidArgument: mu must be strictly increasing, got mu_prime(-2) = -1
    """

    def __init__(
        self,
        mu: Function,
        mu_prime: Function,
        *,
        name: str = "own",
        lipschitz: float | None = None,
    ) -> None:
        table = np.array([_values("mu", mu, _GRID), _values("mu_prime", mu_prime, _GRID)])
        middles = (_GRID[1:] + _GRID[:-1]) / 2
        _check_shape(table)
        _check_slopes(table, _values("mu_prime", mu_prime, middles))
        self._set(kernels.TABLE, table, name)
        if lipschitz is not None:
            self._read_lipschitz(lipschitz)

    def _set(self, kind: int, table: Floats, name: str) -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"name must be a string, got {name!r}")
        self.name = name
        self._kind, self._table = kind, table
        self.slope = float(table[1, _NEAR].min())
        self.lipschitz = float(table[1].max())

    def _read_lipschitz(self, lipschitz: float) -> None:
        steepest = float(self._table[1, _NEAR].max()) * (1 - 1e-9)  # rounding is forgiven
        self.lipschitz = validation.number("lipschitz", lipschitz, low=steepest)

    @classmethod
    def _known(cls, kind: int, name: str) -> Link:
        link = cls.__new__(cls)
        link._set(kind, np.array(list(_TABLES[kind])), name)
        return link

    @cached_property
    def compiled(self) -> Any:
        """The link as the kernels take it."""
        table = self._table if self._kind == kernels.TABLE else np.zeros((2, 2))
        return kernels.CompiledLink.make(
            table=np.ascontiguousarray(table),
            kind=self._kind,
            first=float(-REACH),
            spacing=2 * REACH / (POINTS - 1),
        )

    def mu(self, z: npt.ArrayLike) -> Floats:
        """Return the expected click at each ``z``, finite numbers of any shape."""
        return self._both(z)[0]

    def mu_prime(self, z: npt.ArrayLike) -> Floats:
        """Return the slope at each ``z``, finite numbers of any shape."""
        return self._both(z)[1]

    def _both(self, z: npt.ArrayLike) -> tuple[Floats, Floats]:
        try:
            points = np.array(z, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"z must be numbers, got {z!r}: {error}") from None
        if not np.isfinite(points).all():
            raise InvalidArgument(f"z must be finite, got {points[~np.isfinite(points)][0]}")
        mean, slope = np.empty(points.size), np.empty(points.size)
        kernels.evaluate(self.compiled, points.ravel(), points.size, mean, slope)
        return mean.reshape(points.shape), slope.reshape(points.shape)

    def saved(self) -> str | dict[str, Any]:
        """Return the link as plain values: its name, or the whole table of an own link."""
        if self._kind != kernels.TABLE:
            return self.name
        return {"name": self.name, "lipschitz": self.lipschitz, "table": self._table}

    def __repr__(self) -> str:
        return f"Link({self.name!r}, slope={self.slope:.4g}, lipschitz={self.lipschitz:.4g})"


def read_link(link: str | Link | Mapping[str, Any]) -> Link:
    """Read the ``link`` argument of a policy: a name, a link, or what a model file holds of one.

    >>> read_link("logistic")
    Link('logistic', slope=0.105, lipschitz=0.25)
    >>> read_link("logit")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    clubcascade.errors.UnknownName: unknown link 'logit'; did you mean 'logistic'? Known: ...
    """
    if isinstance(link, Link):
        return link
    if isinstance(link, str):
        if link not in NAMES:
            raise unknown_name("link", link, NAMES)
        return Link._known(NAMES[link], link)
    if isinstance(link, Mapping) and set(link) == {"name", "lipschitz", "table"}:
        return _of_table(link)
    names = ", ".join(repr(name) for name in NAMES)
    raise InvalidArgument(f"link must be one of {names}, or a clubcascade.Link, got {link!r}")


def _of_table(saved: Mapping[str, Any]) -> Link:
    """Return the link that :meth:`Link.saved` put into plain values."""
    try:
        table = np.array(saved["table"], dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.shape != (2, POINTS) or not np.isfinite(table).all():
        raise InvalidArgument(
            f"table of the link must be 2 x {POINTS} finite numbers, got shape {table.shape}"
        )
    _check_shape(table)
    link = Link.__new__(Link)
    link._set(kernels.TABLE, table, saved["name"])
    link._read_lipschitz(saved["lipschitz"])
    return link


NAMES = {"identity": kernels.IDENTITY, "logistic": kernels.LOGISTIC, "probit": kernels.PROBIT}
"""The links that are known by name."""


def _known_tables() -> dict[int, tuple[Floats, Floats]]:
    z = np.linspace(-REACH, REACH, POINTS)
    e = np.exp(-np.abs(z))
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return {
        kernels.IDENTITY: (z, np.ones_like(z)),
        kernels.LOGISTIC: (np.where(z >= 0, 1, e) / (1 + e), e / (1 + e) ** 2),
        kernels.PROBIT: (np.array([math.erfc(-p * math.sqrt(0.5)) / 2 for p in z]), density),
    }


_TABLES = _known_tables()


def _values(name: str, function: Any, points: Floats) -> Floats:
    if not callable(function):
        raise InvalidArgument(f"{name} must be a function of one number, got {function!r}")
    values = np.empty(len(points))
    for i, z in enumerate(points.tolist()):
        try:
            value = function(z)
            values[i] = value
        except Exception as error:  # whatever a function of anyone's may raise
            raise InvalidArgument(
                f"{name} must give a number at every z in [-{REACH:g}, {REACH:g}], "
                f"got {error!r} at {z:g}"
            ) from error
        if not math.isfinite(values[i]):
            raise InvalidArgument(f"{name} must be finite, got {name}({z:g}) = {value!r}")
    return values


def _check_shape(table: Floats) -> None:
    """Raise unless mu rises: strictly on [-2, 2], nowhere falling beyond."""
    mean, slope = table
    flat = np.flatnonzero(_NEAR & (slope <= 0))
    falling = np.flatnonzero(slope < 0)
    for bad in (flat, falling):
        if bad.size:
            z, value = _GRID[bad[0]], slope[bad[0]]
            raise InvalidArgument(
                f"mu must be strictly increasing, got mu_prime({z:g}) = {value:g}"
            )
    rise = np.diff(mean)
    for bad in (np.flatnonzero((rise <= 0) & _NEAR[1:] & _NEAR[:-1]), np.flatnonzero(rise < 0)):
        if bad.size:
            low, high = _GRID[bad[0]], _GRID[bad[0] + 1]
            values = f"mu({low:g}) = {mean[bad[0]]:g} and mu({high:g}) = {mean[bad[0] + 1]:g}"
            raise InvalidArgument(f"mu must be strictly increasing, got {values}")


def _check_slopes(table: Floats, middle: Floats) -> None:
    """Raise unless mu' is the slope of mu: its integral over each step, by Simpson's rule."""
    mean, slope = table
    step = np.diff(_GRID)
    found = np.diff(mean)
    wanted = step * (slope[1:] + 4 * middle + slope[:-1]) / 6
    off = np.abs(found - wanted)
    bad = np.flatnonzero(off > _SLACK * np.maximum(found, wanted) + 1e-9 * (1 + np.abs(mean[1:])))
    if bad.size:
        i = bad[0]
        raise InvalidArgument(
            f"mu_prime must be the derivative of mu, got about {wanted[i] / step[i]:.6g} between "
            f"{_GRID[i]:g} and {_GRID[i + 1]:g}, where mu rises by {found[i] / step[i]:.6g} per 1"
        )
