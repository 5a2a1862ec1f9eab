"""A policy around another policy: all is passed on, and a subclass changes one thing."""

import threading
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Feedback, Ints, Items, Policy, Shown, array_of
from clubcascade.errors import InvalidArgument
from clubcascade.policies._states import check_numbers, fitting
from clubcascade.validation import brief

ANSWERS = frozenset(
    "users clusters labels number scores statistics user_weights cluster_weights graph alpha "
    "asks choose_user relax next_draw _numbers _parts _means".split()
)
"""What is asked of the policy inside, if it has it; none of these recommends or learns."""


class Wrapper(Policy):
    """Recommend and learn as another policy does; a subclass overrides what it changes.

    A lock makes every update whole. Updates are counted; what else a subclass learns itself, it
    adds to :meth:`_own_state` and :meth:`_read_own`.

    Parameters
    ----------
    policy
        The policy inside, or a table of its ``name`` and its parameters, as files have it.
    """

    def __init__(self, policy: Policy | Mapping[str, Any]) -> None:
        self.policy = made(policy)
        self.n_features = self.policy.n_features
        self._updates = 0
        self._lock = threading.Lock()

    @property
    def base(self) -> Policy:
        """The policy inside all wrappers."""
        return self.policy.base if isinstance(self.policy, Wrapper) else self.policy

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments; the policy inside as a table of its name and parameters."""
        inner = {"name": self.policy.registry_name(), **self.policy.params}
        return super().params | {"policy": inner}

    def __getattr__(self, name: str) -> Any:
        if name in ANSWERS and "policy" in vars(self):
            return getattr(self.policy, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        """Return the rows of the ``k`` items to show, best first; learns nothing."""
        return self.policy.recommend(user, items, k)

    def update(self, user: Hashable, shown: Shown, click: int | None | Feedback) -> None:
        """Learn from the feedback of one user on one shown list."""
        with self._lock:
            self.policy.update(user, shown, click)
            self._updates += 1
            self._updated()

    def _updated(self) -> None:
        """Do what a subclass does after every update."""

    @property
    def _prefix(self) -> str:
        """What the names of own parts begin with: the wrapper's name, and which of its kind."""
        inner, others = self.policy, 0
        while isinstance(inner, Wrapper):
            inner, others = inner.policy, others + (type(inner) is type(self))
        return f"{self.registry_name()}{others + 1 if others else ''}."

    # -- state: that of the policy inside, and own parts named after the wrapper ----------------

    def _own_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of what the wrapper itself has learned."""
        return {"updates": np.array([self._updates])}

    def _read_own(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes that :meth:`_own_state` was made from; ValueError if wrong."""
        return {"_updates": int(array_of(own, "updates", (1,), np.int64)[0])}

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            start = self._prefix
            own = {start + name: value for name, value in self._own_state().items()}
            return self.policy.state() | own

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned, from a policy of the same parameters."""
        start = self._prefix
        with self._lock:
            with fitting(self):
                inner = {name: part for name, part in state.items() if not name.startswith(start)}
                like = self._own_state()
                own = {name: state[start + name] for name in like}
                check_numbers(own, like)
                learned = self._read_own(own)
            self.policy.load_state(inner)
            vars(self).update(learned)


def made(policy: Any) -> Policy:
    """Return a policy that is given, or make the one that a table names."""
    from clubcascade.policies import policy_class  # noqa: PLC0415  it imports this module

    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, Mapping) or "name" not in policy:
        raise InvalidArgument(
            f"policy must be a policy, or a table of its name and parameters, got {brief(policy)}"
        )
    params = {name: value for name, value in policy.items() if name != "name"}
    kind = policy_class(policy["name"])
    try:
        return kind(**params)
    except TypeError as error:
        raise InvalidArgument(
            f"policy must have the parameters of {kind.__name__}: {error}"
        ) from None
