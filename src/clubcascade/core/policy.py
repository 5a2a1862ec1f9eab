"""The interface of policies, and what follows from it."""

import inspect
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

from clubcascade import model_file
from clubcascade.core.arrays import Ints
from clubcascade.core.catalog import Items, Shown
from clubcascade.core.feedback import Feedback
from clubcascade.core.state import same
from clubcascade.errors import InvalidArgument


class Policy(ABC):
    """Ranks items for users and learns from where they click.

    ``recommend`` learns nothing; ``update`` is deterministic and needs no earlier ``recommend``,
    so feedback may come late, interleaved between users, or from a log. A rejected call leaves
    the policy as it was.
    """

    n_features: int | None
    """Number of features of an item; None for a policy that does not use them."""
    moved_parameters: ClassVar[Mapping[str, str]] = {}
    """Parameters of earlier versions, and what to do instead of naming them."""

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
        if cls.__module__.startswith("clubcascade.policies."):
            return cls.__module__.rpartition(".")[2]
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, under their own names."""
        names = list(inspect.signature(type(self)).parameters)
        for name in names:
            if not hasattr(self, name):
                raise InvalidArgument(
                    f"the arguments of {type(self).__name__} must be stored under their own names, "
                    f"got no self.{name}"
                )
        return {name: getattr(self, name) for name in names}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return :attr:`params`; the name and the argument are those of scikit-learn."""
        return self.params

    def set_params(self, **params: Any) -> Self:
        """Replace some of the constructor's arguments, checked as the constructor does.

        Only a policy that has learned nothing takes them: what was learned would be of another
        policy. Not for a policy that other threads use. Returns the policy.

        >>> from clubcascade import C3UCB
        >>> C3UCB(n_features=2).set_params(reg=2.0).reg
        2.0
        """
        known = self.params
        unknown = sorted(params.keys() - known.keys())
        if unknown:
            self.refuse_moved(unknown)
            raise InvalidArgument(f"params must be among {', '.join(known)}, got {unknown[0]!r}")
        if not params:
            return self
        if any(value is self for value in params.values()):
            raise InvalidArgument("params must not hold the policy itself, got it")
        if not same(self._learned(), self.fresh()._learned()):
            raise InvalidArgument(
                f"set_params must be called before the policy learns, got {', '.join(params)} "
                f"after that; a new one: policy.fresh().set_params(...)"
            )
        new = known | params
        type(self)(**new)  # what the constructor refuses changes nothing
        getattr(self, "__dict__", {}).clear()
        type(self).__init__(self, **new)
        return self

    @classmethod
    def refuse_moved(cls, names: Iterable[str]) -> None:
        """Raise if a parameter of an earlier version is among these names; say where it is now."""
        for name in names:
            if name in cls.moved_parameters and name not in inspect.signature(cls).parameters:
                raise InvalidArgument(
                    f"{name} is no parameter of {cls.__name__} any more: "
                    f"{cls.moved_parameters[name]}"
                )

    def _learned(self) -> dict[str, Any]:
        """Return the state without the place in the stream of draws."""
        return {name: value for name, value in self.state().items() if name != "draws"}

    def fresh(self) -> Self:
        """Return a policy of the same parameters that has learned nothing."""
        return type(self)(**self.params)

    def __sklearn_clone__(self) -> Self:
        """Make ``sklearn.base.clone`` return :meth:`fresh`."""
        return self.fresh()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle a policy as its parameters and its state."""
        return _restored, (type(self), self.params, self.state())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to one file; :func:`clubcascade.load` continues it bit for bit."""
        model_file.write(path, self.registry_name(), self.params, self.state())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{type(self).__name__}({shown if len(shown) < 200 else shown[:200] + '…'})"


def _restored(kind: type[Policy], params: dict[str, Any], state: dict[str, Any]) -> Policy:
    policy = kind(**params)
    policy.load_state(state)
    return policy
