"""The words of the problem: feedback, catalogue, policy, environment. NumPy only."""

from __future__ import annotations

import inspect
import os
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from clubcascade import model_file, validation
from clubcascade.errors import InvalidArgument, InvalidFeedback, InvalidItems

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Feedback:
    """What is known of one user's look at one list: a prefix, and the clicks in it.

    Parameters
    ----------
    examined
        How many items the user is known to have looked at; what comes later is unseen.
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
            raise InvalidFeedback(str(error)) from None
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
            raise InvalidFeedback(f"{error}; positions are 0-based, None means no click") from None
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


class Catalog:
    """A fixed set of items. Scoring a catalogue is many times faster than scoring loose items.

    Parameters
    ----------
    items
        One row of features per item, of Euclidean norm at most 1. The catalogue keeps a copy.
    ids
        One distinct, hashable name per item; by default the row numbers.

    Examples
    --------
    >>> catalog = Catalog([[1.0, 0.0], [0.6, 0.8]], ids=["tea", "milk"])
    >>> len(catalog), catalog.ids[1], catalog.index("milk")
    (2, 'milk', 1)
    >>> np.asarray(catalog[[1]])
    array([[0.6, 0.8]])
    """

    def __init__(self, items: npt.ArrayLike, ids: Sequence[Hashable] | None = None) -> None:
        rows = np.array(validation.feature_rows("items", items))
        self._set(rows, range(len(rows)) if ids is None else list(ids))

    def _set(self, rows: Floats, ids: Sequence[Hashable]) -> None:
        if len(ids) != len(rows):
            raise InvalidArgument(f"ids must name {len(rows)} items, got {len(ids)} names")
        self._rows = rows
        self.ids = ids
        self._index = {name: row for row, name in enumerate(ids)}
        if len(self._index) != len(rows):
            raise InvalidArgument("ids must be distinct, got a name twice")
        self._every = np.arange(len(rows))
        self.origin: tuple[weakref.ref[Catalog], Ints] | None = None

    def _derive(self, rows: Floats, ids: Sequence[Hashable], origin: Ints) -> Catalog:
        """Make a catalogue of which row i was row ``origin[i]`` here, or is new (-1)."""
        other = Catalog.__new__(Catalog)
        other._set(rows, ids)
        other.origin = (weakref.ref(self), origin)
        return other

    def replace(self, rows: npt.ArrayLike, items: npt.ArrayLike) -> Catalog:
        """Return a catalogue with other features at ``rows``; scores of the rest are kept.

        >>> Catalog(np.eye(2)).replace([1], [[0.6, 0.8]]).features[1]
        array([0.6, 0.8])
        """
        chosen = self[rows].rows
        features = validation.feature_rows("items", items, self.n_features)
        if len(features) != len(chosen):
            raise InvalidItems(f"items must be {len(chosen)} rows, one each, got {len(features)}")
        table, origin = self._rows.copy(), self._every.copy()
        table[chosen], origin[chosen] = features, -1
        return self._derive(table, self.ids, origin)

    def add(self, items: npt.ArrayLike, ids: Sequence[Hashable] | None = None) -> Catalog:
        """Return a catalogue with more items at its end; scores of the rest are kept.

        >>> len(Catalog(np.eye(2)).add([[0.6, 0.8]]))
        3
        """
        features = validation.feature_rows("items", items, self.n_features)
        n = len(self)
        if ids is None and not isinstance(self.ids, range):
            raise InvalidArgument(
                "ids must name the new items, as the old ones have names, got None"
            )
        names: Sequence[Hashable] = range(n + len(features)) if ids is None else [*self.ids, *ids]
        origin = np.concatenate([self._every, np.full(len(features), -1)])
        return self._derive(np.concatenate([self._rows, features]), names, origin)

    def remove(self, rows: npt.ArrayLike) -> Catalog:
        """Return a catalogue without ``rows``, its ids kept; scores of the rest are kept.

        >>> Catalog(np.eye(3), ids="abc").remove([1]).ids
        ['a', 'c']
        """
        kept = np.delete(self._every, self[rows].rows)
        if kept.size == 0:
            raise InvalidItems("rows must leave at least one item, got all of them")
        names = [self.ids[row] for row in kept.tolist()]
        return self._derive(self._rows[kept], names, kept)

    @property
    def features(self) -> Floats:
        """One row of features per item; read-only."""
        view = self._rows.view()
        view.flags.writeable = False
        return view

    @property
    def n_features(self) -> int:
        """Number of features of an item."""
        return int(self._rows.shape[1])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: Any) -> Slate:
        """Give the shown list of these rows, ready for ``update``."""
        try:
            picked = self._every[rows]
            return Slate(self, picked if picked.ndim else picked.reshape(1))
        except IndexError:
            raise InvalidItems(
                f"rows must be whole numbers in [0, {len(self) - 1}], got {rows!r}"
            ) from None

    def index(self, name: Hashable) -> int:
        """Return the row of the item of that id."""
        try:
            return self._index[name]
        except KeyError:
            raise InvalidArgument(f"no item of the catalogue has id {name!r}") from None

    def __repr__(self) -> str:
        return f"Catalog({len(self)} items, {self.n_features} features)"


class Slate:
    """A list of items of one catalogue, as it was shown. Made by ``catalog[ranking]``.

    With a matrix of rows, one list per row of it, as ``update_many`` takes them.
    """

    __slots__ = ("catalog", "rows")

    def __init__(self, catalog: Catalog, rows: Ints) -> None:
        self.catalog = catalog
        self.rows = rows

    @property
    def features(self) -> Floats:
        """The items' features, one row per position."""
        chosen: Floats = self.catalog.features[self.rows]
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.features.astype(dtype or np.float64, copy=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Slate({self.rows.tolist()} of {self.catalog!r})"


Items = npt.ArrayLike | Catalog
Shown = npt.ArrayLike | Slate


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


@runtime_checkable
class Environment(Protocol):
    """Who comes, what may be shown, and what they do."""

    n_users: int
    n_features: int

    def reset(self, seed: int) -> None:
        """Start again: the same seed gives the same arrivals and the same luck."""

    def next_user(self) -> tuple[int, Floats | Catalog]:
        """Start a round: who comes, and the items that may be shown."""

    def respond(self, user: int, ranking: Ints) -> Feedback:
        """Let the user of this round look at the list."""

    def regret(self, user: int, ranking: Ints) -> float | None:
        """Return the expected loss against the best list; None where it is unknown."""


def check_slate(shown: Slate, n_features: int | None, lists: int) -> None:
    """Raise unless the slate is one list (1) or many (2) of a fitting catalogue, none empty."""
    if n_features not in (None, shown.catalog.n_features):
        raise InvalidItems(
            f"shown must come from a catalogue of {n_features} features, "
            f"got {shown.catalog.n_features}"
        )
    if shown.rows.ndim != lists or shown.rows.size == 0:
        wanted = "one list of at least one item" if lists == 1 else "lists x items, none empty"
        raise InvalidItems(f"shown must be {wanted}, got shape {shown.rows.shape}")


def shown_rows(shown: Shown, n_features: int | None) -> Floats:
    """Read the ``shown`` argument of ``update`` as a matrix of features."""
    if isinstance(shown, Slate):
        check_slate(shown, n_features, lists=1)
        return shown.features
    return validation.feature_rows("shown", shown, n_features)


def _is_own(cls: type) -> bool:
    return cls.__module__.startswith("clubcascade.policies.")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def observed(click: int | None | Feedback, k: int) -> tuple[int, Floats]:
    """Read the ``click`` argument of ``update``: how many of ``k`` were looked at, and 0/1 each."""
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
    """Read the ``clicks`` of ``update_many``: how many of ``k`` were looked at, and 0/1 each."""
    examined = np.full(len(clicks), k)
    rewards = np.zeros((len(clicks), k))
    for number, click in enumerate(clicks):
        if click is None:
            continue
        if type(click) is int and 0 <= click < k:
            examined[number] = click + 1
            rewards[number, click] = 1.0
        else:
            examined[number], rewards[number] = observed(click, k)
    return examined, rewards
