"""What makers of features have in common: vectors of norm at most 1, a file without pickle."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from clubcascade import model_file
from clubcascade.core import Catalog, Floats
from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.features.tables import Table
from clubcascade.model_file import join_state, split_state
from clubcascade.validation import brief

MAGIC = "clubcascade features"
FORMAT = 1
_MAKERS: dict[str, type[FeatureMaker]] = {}


def checked_ids(ids: Any) -> list[Hashable]:
    """Return saved ids, which must be distinct."""
    known: list[Hashable] = list(ids)
    if len(set(known)) != len(known):
        raise ValueError("ids must be distinct")
    return known


def _text_or_none(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise ValueError(f"names must be text, got {type(value).__name__}")
    return value


_READ: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "float": float,
    "int": int,
    "str": str,
    "str | None": _text_or_none,
    "list[str]": lambda values: [str(value) for value in values],
    "list[Hashable]": checked_ids,
    "dict[str, str]": lambda of: {str(name): str(value) for name, value in of.items()},
    "dict[str, float]": lambda of: {str(name): float(value) for name, value in of.items()},
    "Floats": lambda array: np.ascontiguousarray(array, dtype=np.float64),
}
"""How a value of a file becomes one of a field, by the field's type."""


def _as_it_is(value: Any) -> Any:
    return value


class Saved:
    """A dataclass whose fields are its state: plain values, arrays, and others like it."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        _READ[cls.__name__] = cls.restore

    def state(self) -> dict[str, Any]:
        """Return arrays and plain values from which :meth:`restore` makes it again."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {k: v.state() if isinstance(v, Saved) else v for k, v in values.items()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return what has a state; an error if its parts do not fit together."""
        read = {each.name: _READ.get(str(each.type), _as_it_is) for each in fields(cls)}
        made = cls(**{name: of(state[name]) for name, of in read.items() if name in state})
        made.check()
        return made

    def check(self) -> None:
        """Raise a ValueError unless what was read fits together."""


@dataclass(repr=False, eq=False, kw_only=True)
class FeatureMaker(Saved, ABC):
    """Gives every item a vector of Euclidean norm at most 1.

    Attributes
    ----------
    ids
        The items it was made from.
    vectors
        Their vectors, a row each.
    said
        What was kept of the data, and what was left out, a sentence each.
    """

    kind: ClassVar[str]
    ids: list[Hashable] = field(default_factory=list)
    vectors: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    said: list[str] = field(default_factory=list)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _MAKERS[cls.kind] = cls

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @abstractmethod
    def transform(self, new_items: Table) -> Floats:
        """Return the vectors of items, a row each, from their rows of the table."""

    def check(self) -> None:
        """Raise a ValueError unless there is a vector for each id, finite, of norm at most 1."""
        shape, n = self.vectors.shape, len(self.ids)
        if len(shape) != 2 or shape[0] != n:
            raise ValueError(f"vectors must have {n} rows, got shape {shape}")
        within = bool((np.abs(self.vectors) <= 1.0 + 1e-6).all())  # or squares would overflow
        if not within or not (np.linalg.norm(self.vectors, axis=1) <= 1.0 + 1e-6).all():
            raise ValueError("vectors must be finite, of norm at most 1")

    def catalog(self) -> Catalog:
        """Return the items as a catalogue, as policies take it."""
        return Catalog(self.vectors, ids=self.ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, without pickle; :func:`clubcascade.features.load` reads it."""
        plain, arrays = split_state(self.state())
        model_file.write_parts(path, MAGIC, FORMAT, {"kind": self.kind, "state": plain}, arrays)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.ids)} items, {self.n_features} features)"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {line}" for line in self.said)])


def restore(kind: str, state: dict[str, Any]) -> FeatureMaker:
    """Return the maker of a state; what does not fit together is refused."""
    if kind not in _MAKERS:
        raise ModelFileError(f"kind must be one of {', '.join(_MAKERS)}, got {brief(kind)}")
    try:
        return _MAKERS[kind].restore(state)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFileError(f"the features of a file must fit together, got {error!r}") from error


def load(path: str | os.PathLike[str]) -> FeatureMaker:
    """Read what :meth:`FeatureMaker.save` wrote."""
    plain, arrays = model_file.read_parts(path, MAGIC, FORMAT)
    try:
        kind, state = plain["kind"], join_state(plain["state"], arrays)
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"path must be a file of features, got {error!r} missing") from error
    return restore(kind, state)


def unit(rows: Floats, scale: float) -> Floats:
    """Divide rows by a constant; those still longer than 1 are shortened to 1."""
    scaled = rows / scale
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.ascontiguousarray(scaled / np.maximum(norms, 1.0))


def largest_norm(rows: Floats) -> float:
    """Return the largest norm of a row, 1 if all are 0."""
    found = float(np.linalg.norm(rows, axis=1).max(initial=0.0))
    return found if found > 0 else 1.0


def rank_of(n_features: Any) -> int:
    """Read the argument ``n_features``."""
    if isinstance(n_features, bool) or not isinstance(n_features, int) or n_features < 1:
        raise InvalidArgument(f"n_features must be a whole number >= 1, got {brief(n_features)}")
    return n_features


def rows_by_id(
    ids: Sequence[Hashable], known: dict[Hashable, int], vectors: Floats
) -> tuple[Floats, Any]:
    """Return the vectors of ids, zeros for unknown ones, and which are known."""
    places = np.array([known.get(each, -1) for each in ids], dtype=np.int64)
    found = places >= 0
    out = np.zeros((len(places), vectors.shape[1]))
    out[found] = vectors[places[found]]
    return out, found
