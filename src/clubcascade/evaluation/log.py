"""A log of lists in plain columns: from Python, from an export, from Open Bandit columns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Catalog, Feedback, Floats, Ints, Policy
from clubcascade.errors import InvalidData, MissingExtra
from clubcascade.model_file import encode
from clubcascade.validation import brief, listed

LISTS = ("items", "clicks", "candidates", "propensities")
"""Columns of a file that hold lists."""
SMALLEST = 1e-100
"""The least probability of a list: weights are its inverse, and squares of them are summed."""
LEARNED = ("applied", "absent")
"""Outcomes that taught the logging model something."""


class Log:
    """Lists that were shown, answered or not, one entry per list in every column.

    Parameters
    ----------
    users
        Whose list it was.
    shown
        Rows of the candidates that were shown, one list of rows each; lengths may differ.
    clicks
        First clicked place, None for no click or no answer, or a :class:`clubcascade.Feedback`.
    candidates
        What could have been shown: one catalogue or matrix for all lists, or one per list, None
        for a list whose candidates are not known.
    made
        Position in the log of the model that made the list: all answers up to it were learned.
    answered
        Position at which the logging model learned the list's answer, -1 for never; by default the
        one after ``made``.
    propensities
        Probability of each shown item given the places before, lists x places; ``"uniform"`` if
        the lists were drawn uniformly at random.
    models
        Yields the logging model at each of these positions, which rise; for a log that can rebuild
        it, such as a store's.
    places
        If a list has one item only, its place in the list that the user saw; by default the first.

    Examples
    --------
    >>> log = Log(["alice", "bob"], [[0, 2], [1, 0]], [1, None], np.eye(3), propensities="uniform")
    >>> len(log), log.prefix_propensity(0).round(3).tolist(), log.first.tolist()
    (2, [0.333, 0.167], [1, -1])
    """

    def __init__(
        self,
        users: Sequence[Hashable],
        shown: npt.ArrayLike | Sequence[Sequence[int]],
        clicks: Sequence[int | None | Feedback],
        candidates: Any = None,
        *,
        made: npt.ArrayLike | None = None,
        answered: npt.ArrayLike | None = None,
        propensities: npt.ArrayLike | str | None = None,
        models: Callable[[Sequence[int]], Iterable[Policy]] | None = None,
        places: npt.ArrayLike | None = None,
    ) -> None:
        self.users = listed("users", users, "ids")
        n = len(self.users)
        self.shown, self.lengths = _padded(shown, n)
        self.k = int(self.shown.shape[1])
        self.models = models
        given = listed("clicks", clicks, "feedback, one entry per list")
        if len(given) != n:
            raise InvalidData(f"clicks must have {n} entries, one per list, got {len(given)}")
        self.feedback = [*map(Feedback.of, given, self.lengths.tolist())]
        self.first = np.array([f.clicks[0] if f.clicks else -1 for f in self.feedback])
        self.candidates = candidates
        self.made = None if made is None else _column("made", made, n, 1, np.int64)
        after = None if self.made is None else self.made + 1
        self.answered = after if answered is None else _column("answered", answered, n, 1, np.int64)
        self.places = None if places is None else _column("places", places, n, 1, np.int64)
        self.uniform = isinstance(propensities, str) and propensities == "uniform"
        self.propensities: Floats | None = None
        if propensities is not None and not self.uniform:
            self.propensities = _column("propensities", propensities, n, 2, np.float64)
            if (
                self.propensities.shape[1] != self.k
                or not ((self.propensities > 0) & (self.propensities <= 1)).all()
                or (self.propensities.prod(axis=1) < SMALLEST).any()
            ):
                raise InvalidData(
                    f"propensities must be {self.k} numbers in (0, 1] per list, "
                    f"whose product is at least {SMALLEST}"
                )
            if (self.lengths != self.k).any():
                raise InvalidData("propensities must be of lists of one length, got several")
        self._check_rows()

    def _check_rows(self) -> None:
        if self.candidates is None:
            return
        one = isinstance(self.candidates, Catalog | np.ndarray)
        if not one and len(self.candidates) != len(self):
            raise InvalidData(
                f"candidates must be one catalogue or matrix, or {len(self)} of them, one per "
                f"list, got {len(self.candidates)}"
            )
        for at in range(len(self)):
            if self.items(at) is None:
                continue
            rows, n = self.rows(at).tolist(), len(self.items(at))
            if len(set(rows)) != len(rows) or not 0 <= min(rows) <= max(rows) < n:
                raise InvalidData(f"shown must be distinct rows below {n}, got {rows} in list {at}")

    def __len__(self) -> int:
        return len(self.users)

    def items(self, at: int) -> Catalog | Floats:
        """Return the candidates of a list."""
        one = isinstance(self.candidates, Catalog | np.ndarray)
        found: Catalog | Floats = self.candidates if one else self.candidates[at]
        return found

    def rows(self, at: int) -> Ints:
        """Return the rows that a list showed."""
        found: Ints = self.shown[at, : self.lengths[at]]
        return found

    def prefix_propensity(self, at: int) -> Floats | None:
        """Return the probability of the first place, the first two and so on, if it is known."""
        if self.uniform:
            left = len(self.items(at)) - np.arange(self.lengths[at], dtype=np.float64)
            return 1 / np.cumprod(left)
        return None if self.propensities is None else np.cumprod(self.propensities[at])

    @classmethod
    def open_bandit(cls, columns: Mapping[str, Any], catalog: Catalog) -> Log:
        """Read the columns of the Open Bandit Dataset: one shown item a row.

        Parameters
        ----------
        columns
            ``item_id``, ``position`` (from 1), ``click``, ``propensity_score``; a column ``user``,
            or else all columns ``user_feature_*`` together, say whose row it is.
        catalog
            The items, with ids as in ``item_id``.
        """
        _need(columns, ("item_id", "position", "click", "propensity_score"))
        names = ["user"] if "user" in columns else sorted(c for c in columns if "user_feature" in c)
        parts = [np.asarray(columns[name]).tolist() for name in names]
        n = len(columns["item_id"])
        users = list(zip(*parts, strict=True)) if parts else list(range(n))
        clicks = np.asarray(columns["click"]).tolist()
        if wrong := [each for each in clicks if each not in (0, 1)]:
            raise InvalidData(f"click must be 0 or 1 in every row, got {brief(wrong[0])}")
        rows = [[catalog.index(each)] for each in np.asarray(columns["item_id"]).tolist()]
        return cls(
            users,
            np.array(rows),
            [0 if click else None for click in clicks],
            catalog,
            propensities=_column("propensity_score", columns["propensity_score"], n, 1, np.float64)[
                :, None
            ],
            places=_column("position", columns["position"], n, 1, np.int64) - 1,
        )

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        catalog: Catalog | None = None,
        *,
        uniform: bool = False,
        user: Callable[[Any], Hashable] = lambda name: name,
    ) -> Log:
        """Read a file (Parquet or CSV), or the folder of an export.

        Parameters
        ----------
        path
            Columns as ``clubcascade export`` writes them: ``user``, ``items`` (ids shown),
            ``clicks`` (places), ``examined``, ``model_position``, ``position``; also
            ``candidates`` (ids that could have been shown; by default all of the catalogue) and
            ``propensities`` (one number a place). What ``outcome`` says was not ``applied`` or
            ``absent`` was not learned. In CSV, lists are JSON: ``["tea", "milk"]``. Or the columns
            of the Open Bandit Dataset.
        catalog
            The items by id, the same for all lists: where they changed, the store knows which
            there were (``clubcascade evaluate --store``). Without it the candidates are missing.
        uniform
            Say that the lists were drawn uniformly at random.
        user
            Turns a user of the file into the id that policies know, such as ``int``.
        """
        columns: dict[str, list[Any]] = table_of(Path(path)).to_pydict()
        if "propensity_score" in columns and catalog is not None:
            return cls.open_bandit(columns, catalog)
        _need(columns, ("user", "items", "clicks"))
        made = [each for each in columns.get("decision", ()) if each is not None]
        if len(set(made)) != len(made):
            raise InvalidData("decision must be another one in every row, got one twice")
        for name in LISTS:
            if name in columns:
                columns[name] = [_cell(name, value) for value in columns[name]]
        lists = columns["items"]
        if any(each is None for each in lists):
            raise InvalidData(f"items must be a list in every row, got none in {lists.index(None)}")
        shown: Any = [range(len(each)) for each in lists]
        candidates: Any = catalog
        if catalog is not None:
            sets = columns.get("candidates")
            known = columns.get("candidate_set", [""] * len(lists))
            if sets is not None:
                index, parts = _index(catalog), {}  # type: ignore[var-annotated]
                candidates = [
                    None if ids is None and kept not in ("", "catalogue") else
                    catalog if ids is None else part_of(catalog, index, ids, parts)
                    for ids, kept in zip(sets, known, strict=True)
                ]  # fmt: skip
            shown = _rows(lists, candidates)
        position, outcomes = columns.get("position"), columns.get("outcome")
        if position is not None and outcomes is not None:
            pairs = zip(position, outcomes, strict=True)
            position = [at if kind in (None, *LEARNED) else None for at, kind in pairs]
        many = columns.get("propensities")
        return cls(
            [_user(user, name) for name in columns["user"]],
            shown,
            _feedback(columns["clicks"], columns.get("examined"), lists),
            candidates,
            made=_positions(columns.get("model_position"), missing=None),
            answered=_positions(position, missing=-1),
            propensities="uniform" if uniform else many,
        )


def _user(user: Callable[[Any], Hashable], name: Any) -> Hashable:
    try:
        found = user(name)
        hash(found)
    except (TypeError, ValueError):
        raise InvalidData(f"user must be an id of the kind asked for, got {brief(name)}") from None
    return found


def _column(name: str, values: Any, n: int, ndim: int, dtype: Any) -> npt.NDArray[Any]:
    try:
        found = np.array(values, dtype=dtype)
        if dtype is np.int64 and (np.asarray(values, np.float64) != found).any():
            raise ValueError("some are no whole numbers")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidData(f"{name} must be a column of numbers, one length: {error}") from None
    if found.ndim != ndim or len(found) != n or (ndim == 2 and not found.shape[1] and n):
        what = "one number" if ndim == 1 else "one row of numbers"
        raise InvalidData(f"{name} must have {what} per list, {n}, got shape {found.shape}")
    return found


def _padded(shown: Any, n: int) -> tuple[Ints, Ints]:
    """Return lists of rows as one array, with -1 behind the shorter ones, and their lengths."""
    try:
        lengths = np.array([len(each) for each in shown], np.int64)
    except TypeError:
        lengths = np.zeros(0, np.int64)
    if len(lengths) != n or (n and not lengths.min()):
        raise InvalidData(f"shown must have one row of numbers per list, {n}, got {brief(shown)}")
    if len(set(lengths.tolist())) > 1:
        longest = int(lengths.max())
        shown = [[*each, *[-1] * (longest - len(each))] for each in shown]
    return _column("shown", shown if n else np.empty((0, 0)), n, 2, np.int64), lengths


def _need(columns: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise InvalidData(f"a log must have a column {name!r}, got {', '.join(columns)}")


def table_of(path: Path) -> Any:
    """Read a Parquet or CSV file, or a folder of Parquet files, as an Arrow table."""
    try:
        from pyarrow import csv, parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra('logs need an extra: pip install "clubcascade[export]"') from error
    if not path.exists():
        raise InvalidData(f"a log must be a file or a folder that exists, got {str(path)!r}")
    try:
        return csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise InvalidData(f"{path} is no Parquet or CSV file: {error}") from None


def _cell(name: str, value: Any) -> Any:
    """Return a list of a column; in CSV it is JSON, and an empty cell is none."""
    if value in (None, ""):
        return None
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise InvalidData(f"{name} must be lists, in CSV as JSON such as [1, 2], got {value!r}")
    return found


def _index(catalog: Catalog) -> dict[Any, int]:
    """Return the row of every id, as it is and as exports write it: what is no text is JSON."""
    named = {
        json.dumps(encode(name)): row
        for row, name in enumerate(catalog.ids)
        if not isinstance(name, str)
    }
    return named | catalog._index


def part_of(
    catalog: Catalog,
    index: Mapping[Any, int],
    ids: Sequence[Any],
    known: dict[tuple[Any, ...], Catalog],
) -> Catalog:
    """Return the part of a catalogue that a list of ids names, the same one for the same ids."""
    key = tuple(ids)
    if key not in known:
        rows = [index[each] if each in index else catalog.index(each) for each in key]
        known[key] = Catalog(catalog._rows[rows], ids=[catalog.ids[row] for row in rows])
    return known[key]


def _rows(lists: Sequence[Sequence[Any]], candidates: Any) -> list[list[int]]:
    sets = [candidates] * len(lists) if isinstance(candidates, Catalog) else candidates
    found, indexes = [], {}
    for names, one in zip(lists, sets, strict=True):
        if one is None:
            found.append([*range(len(names))])
            continue
        if id(one) not in indexes:
            indexes[id(one)] = _index(one)
        index = indexes[id(one)]
        found.append([index[each] if each in index else one.index(each) for each in names])
    return found


def _feedback(clicks: Sequence[Any], examined: Any, lists: Sequence[Any]) -> list[Feedback]:
    looks = [None] * len(clicks) if examined is None else examined
    found = []
    for places, seen, names in zip(clicks, looks, lists, strict=True):
        given = tuple(places or ())
        if not all(isinstance(place, int) for place in given):
            raise InvalidData(f"clicks must be lists of places, whole numbers, got {brief(places)}")
        found.append(Feedback(seen or (given[-1] + 1 if given else len(names)), given))
    return found


def _positions(values: Any, missing: int | None) -> list[int] | None:
    """Return positions; None if the column, or one that must be there, is missing."""
    if values is None or (missing is None and any(each is None for each in values)):
        return None
    return [missing if each is None else each for each in values]  # type: ignore[misc]
