"""What every click model answers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from clubcascade.core import Feedback, Floats


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
