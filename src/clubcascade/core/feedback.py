"""Feedback of one user on one list, and how calls read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clubcascade import validation
from clubcascade.core.arrays import Floats, Ints
from clubcascade.errors import InvalidArgument, InvalidFeedback


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback of one user on one list: how many items were examined, and the clicks among them.

    Parameters
    ----------
    examined
        How many items the user is known to have examined; later ones are not observed.
    clicks
        0-based positions of the clicked items, rising, all below ``examined``.

    Examples
    --------
    >>> Feedback.from_click(2, k=4)
    Feedback(examined=3, clicks=(2,))
    >>> Feedback.from_click(None, k=4)
    Feedback(examined=4, clicks=())
    """

    examined: int
    clicks: tuple[int, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.clicks, Iterable):
            raise InvalidFeedback(f"clicks must be rising positions, got {self.clicks!r}")
        try:
            examined = validation.whole("examined", self.examined, low=1)
            clicks = tuple(
                validation.whole("clicks", click, low=0, high=examined - 1) for click in self.clicks
            )
        except InvalidArgument as error:
            raise InvalidFeedback(
                f"{error}; examined is how many items the user examined, clicks are positions "
                f"among these"
            ) from None
        if any(later <= earlier for earlier, later in zip(clicks, clicks[1:], strict=False)):
            raise InvalidFeedback(f"clicks must be rising positions, got {self.clicks!r}")
        object.__setattr__(self, "examined", examined)
        object.__setattr__(self, "clicks", clicks)

    @classmethod
    def from_click(cls, click: int | None, k: int) -> Feedback:
        """Cascade feedback of a list of ``k``: the first clicked position, or None for no click."""
        if click is None:
            return cls(examined=k, clicks=())
        try:
            position = validation.whole("click", click, low=0, high=k - 1)
        except InvalidArgument as error:
            raise InvalidFeedback(
                f"{error}; positions are 0-based, None means no click; several clicks: "
                f"clubcascade.Feedback(examined, clicks)"
            ) from None
        return cls(examined=position + 1, clicks=(position,))

    @classmethod
    def of(cls, click: int | None | Feedback, k: int) -> Feedback:
        """Read the ``click`` argument of ``update`` for a list of ``k`` items."""
        if not isinstance(click, Feedback):
            return cls.from_click(click, k)
        if click.examined > k:
            raise InvalidFeedback(
                f"examined must be at most the number of shown items, {k}, got {click.examined}"
            )
        return click


def observed(click: int | None | Feedback, k: int) -> tuple[int, Floats]:
    """Read the ``click`` argument of ``update``: how many of ``k`` were examined, and 0/1 each."""
    rewards = np.zeros(k)
    if click is None:
        return k, rewards
    if type(click) is int and 0 <= click < k:
        rewards[click] = 1.0
        return click + 1, rewards
    feedback = Feedback.of(click, k)
    rewards[list(feedback.clicks)] = 1.0
    return feedback.examined, rewards


def observed_many(clicks: Sequence[int | None | Feedback], k: int) -> tuple[Ints, Floats]:
    """Read the ``clicks`` of ``update_many``: how many of ``k`` were examined, and 0/1 each."""
    examined = np.full(len(clicks), k)
    rewards = np.zeros((len(clicks), k))
    if set(map(type, clicks)) <= {int, type(None)}:  # the common case, at once
        events = [event for event, click in enumerate(clicks) if click is not None]
        places = np.array([clicks[event] for event in events])
        if not events:
            return examined, rewards
        if places.dtype.kind == "i" and places.min() >= 0 and places.max() < k:
            examined[events] = places + 1
            rewards[events, places] = 1.0
            return examined, rewards
    for number, click in enumerate(clicks):
        if click is None:
            continue
        if type(click) is int and 0 <= click < k:
            examined[number] = click + 1
            rewards[number, click] = 1.0
        else:
            examined[number], rewards[number] = observed(click, k)
    return examined, rewards
