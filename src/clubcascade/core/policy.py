"""Who ranks: what every policy is asked, and what follows from it."""

from __future__ import annotations

import inspect
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from typing import Any, Self

from clubcascade import model_file
from clubcascade.core.arrays import Ints
from clubcascade.core.catalog import Items, Shown
from clubcascade.core.feedback import Feedback


class Policy(ABC):
    """Ranks items for users and learns from where they click.

    ``recommend`` learns nothing; ``update`` is deterministic and needs no earlier ``recommend``,
    so feedback may come late, interleaved between users, or from a log. A rejected call leaves
    the policy as it was.
    """

    n_features: int | None
    """Number of features of an item; None for a policy that does not look at them."""

    @abstractmethod
    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        """Return the rows of the ``k`` items to show, best first."""

    @abstractmethod
    def update(self, user: Hashable, shown: Shown, click: int | None | Feedback) -> None:
        """Learn from the feedback of one user on one shown list."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""

    @abstractmethod
    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned, from a policy of the same parameters."""

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """Yield small policies for the contract checks; one of them in its busiest regime."""

    @classmethod
    def registry_name(cls) -> str:
        """Name of the policy in configuration files and model files.

        >>> from clubcascade import C3UCB
        >>> C3UCB.registry_name()
        'c3_ucb'
        """
        return cls.__module__.rpartition(".")[2] if _is_own(cls) else _snake(cls.__name__)

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, under their own names."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def fresh(self) -> Self:
        """Return a policy of the same parameters that has learned nothing."""
        return type(self)(**self.params)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to one file; :func:`clubcascade.load` continues it to the bit."""
        model_file.write(path, self.registry_name(), self.params, self.state())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{type(self).__name__}({shown if len(shown) < 200 else shown[:200] + '…'})"


def _is_own(cls: type) -> bool:
    return cls.__module__.startswith("clubcascade.policies.")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
