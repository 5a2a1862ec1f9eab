"""Click models: what a user does with a list, and what the list is worth."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Feedback, Floats
from clubcascade.errors import InvalidArgument

__all__ = ["DCM", "Cascade", "ClickModel"]


@runtime_checkable
class ClickModel(Protocol):
    """A user goes down a list and clicks what attracts; some clicks end the look.

    ``stop`` holds the probability that a click at each position ends it; positions beyond its
    end have the last entry's. A model may also have ``discounts``, what a click is worth at each
    position; without, it is 1 everywhere.
    """

    stop: Floats

    def sample(self, attraction: Floats, rng: np.random.Generator) -> Feedback:
        """Let one user look at a list of items of these attraction probabilities."""

    def value(self, attraction: Floats) -> float:
        """Return the probability that the user leaves the list satisfied."""


class DCM:
    """Dependent click model: after a click at position p the user stops with ``stop[p]``.

    What is known afterwards is the list up to the last click; without a click, the whole list.

    Parameters
    ----------
    stop
        Probability that a click ends the look, one for all positions or one for each; positions
        beyond the end have the last one's.
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the
        end have the last one's. By default all are 1.

    References
    ----------
    Katariya, Kveton, Szepesvári and Wen, "DCM bandits: learning to rank with multiple clicks",
    ICML 2016.

    Examples
    --------
    >>> model = DCM(stop=0.5)
    >>> model.value(np.array([1.0, 1.0]))
    0.75
    >>> DCM(stop=0.0).sample(np.array([1.0, 0.0, 1.0]), np.random.default_rng(1))
    Feedback(examined=3, clicks=(0, 2))
    """

    def __init__(self, stop: npt.ArrayLike, *, discounts: Sequence[float] | None = None) -> None:
        self.stop: Floats = _probabilities("stop", stop)
        self.discounts = validation.discounts("discounts", discounts)

    def _stops(self, k: int) -> Floats:
        return self.stop[np.minimum(np.arange(k), len(self.stop) - 1)]

    def sample(self, attraction: Floats, rng: np.random.Generator) -> Feedback:
        """Let one user look at a list of items of these attraction probabilities."""
        attraction = _probabilities("attraction", attraction)
        k = len(attraction)
        attracted = rng.random(k) < attraction
        ends = rng.random(k) < self._stops(k)
        clicks: list[int] = []
        for position in np.flatnonzero(attracted):
            clicks.append(int(position))
            if ends[position]:
                break
        return Feedback(examined=clicks[-1] + 1 if clicks else k, clicks=tuple(clicks))

    def value(self, attraction: Floats) -> float:
        """Return the probability that the user leaves the list satisfied.

        With discounts, the expected discount of the position that satisfied; 0 if none did.
        """
        attraction = _probabilities("attraction", attraction)
        satisfied = self._stops(len(attraction)) * attraction
        if self.discounts is None:
            return float(1.0 - np.prod(1.0 - satisfied))
        last = len(self.discounts) - 1
        worth = np.array(self.discounts)[np.minimum(np.arange(len(attraction)), last)]
        still = np.cumprod(np.append(1.0, 1.0 - satisfied))[:-1]
        return float(np.sum(worth * still * satisfied))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(stop={self.stop.tolist()}{self._discounts_shown()})"

    def _discounts_shown(self) -> str:
        return "" if self.discounts is None else f", discounts={list(self.discounts)}"


class Cascade(DCM):
    """Cascade model: the dependent click model in which every click ends the look.

    Parameters
    ----------
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the
        end have the last one's. By default all are 1.

    References
    ----------
    Craswell, Zoeter, Taylor and Ramsey, "An experimental comparison of click position-bias
    models", WSDM 2008.

    Examples
    --------
    >>> Cascade().sample(np.array([0.0, 1.0, 1.0]), np.random.default_rng(1))
    Feedback(examined=2, clicks=(1,))
    >>> Cascade().value(np.array([0.5, 0.5]))
    0.75
    >>> Cascade(discounts=[1.0, 0.5]).value(np.array([0.5, 0.5]))
    0.625
    """

    def __init__(self, *, discounts: Sequence[float] | None = None) -> None:
        super().__init__(stop=1.0, discounts=discounts)

    def __repr__(self) -> str:
        return f"Cascade({self._discounts_shown().removeprefix(', ')})"


def _probabilities(name: str, value: npt.ArrayLike) -> Floats:
    """Return one or more numbers in [0, 1], one per position."""
    wanted = f"{name} must be probabilities in [0, 1], got {value!r}"
    try:
        chances = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(wanted) from None
    if chances.ndim != 1 or chances.size == 0 or not np.all((chances >= 0) & (chances <= 1)):
        raise InvalidArgument(wanted)
    return chances
