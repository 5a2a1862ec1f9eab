"""Memory of items around any policy."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Items, Policy, Shown
from clubcascade.errors import InvalidArgument
from clubcascade.learners.item_memory import MOST_ITEMS, RememberedItems
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._wrapper import ANSWERS, made
from clubcascade.policies.multiple_lin_ucb import MultipleLinUCB


class ItemMemory(CompiledPolicy):
    """Another policy that remembers what each user did with an item.

    Who passed an item often passes it again, and who clicked it clicks it again. How much of this
    is so is measured from items that come back: the *share* of what the policy does not explain
    that stays with a user and an item. An item that a user has met then scores by its own record
    as well, and what is seen again teaches the policy less. Where clicks are drawn anew, the share
    is 0 for a policy that explains what there is to explain, and nothing changes; a policy whose
    weights are shrunk too much is helped by the record at first and may learn more slowly later.
    An item is known by its features. Lists take a met item that is not among the best of the policy
    inside (the length of the list, and as many more as were met) for as good as the last of these;
    ``scores`` has it at its own score, so that the order of both may differ.
    :class:`clubcascade.CohortCascade` has this built in.

    Parameters
    ----------
    policy
        The policy inside (a copy of it), or a table of its ``name`` and its parameters, as files
        have it. One of this package, but no wrapper, ``CohortCascade`` or ``TopRank``.
    size
        Items that are remembered of each user: the last ones that were shown.
    forget
        Half-life, in lists of a user: every so many of its lists all of its records count half.
        None to forget nothing. Records of one observation are dropped then: with 1, all.

    Examples
    --------
    >>> import numpy as np
    >>> policy = ItemMemory(MultipleLinUCB(n_features=2, beta=0.1))
    >>> items = np.array([[1.0, 0.0], [0.8, 0.6]])
    >>> for user in range(30):
    ...     for _ in range(3):
    ...         policy.update(user, items, click=user % 2)
    >>> policy.share
    1.0
    >>> policy.recommend(0, items, k=1), policy.recommend(1, items, k=1)
    (array([0]), array([1]))
    """

    policy: CompiledPolicy
    _learner: RememberedItems

    def __init__(
        self, policy: Policy | Mapping[str, Any], *, size: int = 64, forget: int | None = None
    ) -> None:
        inside = made(policy)
        if not isinstance(inside, CompiledPolicy) or not inside.is_unchanged:
            raise InvalidArgument(
                f"policy must be a policy of clubcascade that is not a wrapper, got {inside!r}"
            )
        if isinstance(inside._learner, RememberedItems) or inside._learner.weighting == "none":
            raise InvalidArgument(f"policy must be one that can remember items, got {inside!r}")
        self.policy = inside = copy.deepcopy(inside)
        self.size = validation.whole("size", size, low=1, high=MOST_ITEMS)
        self.forget = None if forget is None else validation.whole("forget", forget, low=1)
        self.n_features = inside.n_features
        logistic = getattr(inside._learner, "link", None) is not None
        learner = RememberedItems(
            inside._learner,
            self.size,
            inside._numbers,
            half_life=self.forget or 0,
            logistic=logistic,
        )
        super().__init__(learner, inside._numbers)
        self._adopt(inside)

    def _adopt(self, inside: Any) -> None:
        """Have the policy inside answer for the same users, whatever state it takes over."""
        inside._numbers, inside._lock = self._numbers, self._lock
        inside._take_over = self._follow

    def _take_over(self, other: Self) -> None:
        super()._take_over(other)
        self._adopt(self.policy)

    def _follow(self, other: CompiledPolicy) -> None:
        """Let the policy inside become another one; users of both keep what is remembered."""
        self._learner.follow(other._learner, other._numbers)
        self._numbers = other._numbers
        CompiledPolicy._take_over(self.policy, other)

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments; the policy inside as a table of its name and parameters."""
        inner = {"name": self.policy.registry_name(), **self.policy.params}
        return super().params | {"policy": inner}

    @property
    def share(self) -> float:
        """Share of the unexplained that stays with a user and an item, as measured so far."""
        return float(self.compiled.share)

    def _read_items(self, items: Items) -> Floats | Catalog:
        return self.policy._read_items(items)

    def _check_shown(self, shown: Shown) -> None:
        self.policy._check_shown(shown)

    def _scores(self, user: Hashable, items: Items) -> Floats:
        """Return the scores of the policy inside; of items that the user has met, with memory."""
        scores: Floats = self.policy.scores(user, items)  # type: ignore[attr-defined]
        loose = self._read_items(items)
        with self._lock:
            number, learner = self._numbers.get(user, -1), self._learner
            if number >= 0:
                learner.blend(number, learner.keyed_by(loose), np.arange(len(scores)), scores)
        return scores

    def __getattr__(self, name: str) -> Any:
        if name in ANSWERS and "policy" in vars(self):
            answer = getattr(self.policy, name)
            return self._scores if name == "scores" else answer
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(MultipleLinUCB(n_features=3, beta=0.5), size=4)
