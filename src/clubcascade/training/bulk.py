"""Bulk learning: logs of lists of any size, streamed in chunks, in bounded memory."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset as datasets

from clubcascade import validation
from clubcascade.core import Catalog, Feedback, Floats, Ints, Policy
from clubcascade.datasets.files import Progress, existing, silent, written
from clubcascade.errors import InvalidArgument, InvalidData, InvalidItems
from clubcascade.policies import load
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._warm_start import BulkSums, learns_sums
from clubcascade.policies.cohort_cascade import CohortCascade

ROWS = 2**18
"""Lists that are read at a time: many, for each user's sums are then fetched once for several."""
LEARNED = ("applied", "absent")
"""Outcomes of an export of the service that its models learned from."""


@dataclass(frozen=True)
class Lists:
    """A chunk of lists: list n is ``rows[starts[n] : starts[n + 1]]``, of user ``users[user[n]]``.

    ``features`` are the vectors that ``rows`` names; ``rewards`` has 1 for a click, per shown item.
    """

    users: list[Hashable]
    user: Ints
    starts: Ints
    rows: Ints
    examined: Ints
    rewards: Floats
    features: Floats

    def __len__(self) -> int:
        return len(self.user)

    @property
    def content(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """What the kernels add up: starts, rows, examined, rewards, features."""
        return self.starts, self.rows, self.examined, self.rewards, self.features


class ListDataset:
    """Lists in Parquet files, read a chunk at a time.

    Columns: ``user``; ``shown`` (or ``items``): a list of ids; and one of ``click`` (first clicked
    place, null for none), ``clicks`` (all clicked places; with ``examined`` if it is known) and
    ``clicked`` (the ids). Rows of an export that taught nothing (``outcome`` "late" and the like)
    are left out.

    Parameters
    ----------
    path
        A Parquet file, or a folder of them, read in the order of their names.
    catalog
        The items that ids name. Without one a column ``features`` must have the vectors.
    """

    def __init__(self, path: str | os.PathLike[str], catalog: Catalog | None = None) -> None:
        self.path, self.catalog = existing(path), catalog
        folder = self.path.is_dir()
        files = sorted(map(str, self.path.rglob("*.parquet"))) if folder else [str(self.path)]
        try:
            self.data = datasets.dataset(files, format="parquet")
        except (pa.ArrowInvalid, FileNotFoundError) as error:
            raise InvalidData(f"log must be Parquet files, got {str(path)!r}: {error}") from None
        if not files:
            raise InvalidData(f"log must have files *.parquet, got {str(path)!r} without one")
        names = self.data.schema.names
        self._shown = self._one_of(names, "shown", "items")
        self._click = self._one_of(names, "click", "clicks", "clicked")
        self._one_of(names, "user")
        if catalog is None and "features" not in names:
            raise InvalidArgument("catalog must be given where the log has no column 'features'")
        self._ids = None if catalog is None else _id_array(catalog.ids)
        more = [each for each in ("examined", "outcome") if each in names]
        self.columns = ["user", self._shown, self._click, *more]
        self.columns += ["features"] if catalog is None else []

    def _one_of(self, names: list[str], *wanted: str) -> str:
        for name in wanted:
            if name in names:
                return name
        one = " or ".join(repr(each) for each in wanted)
        raise InvalidData(f"{self.path} must have a column {one}, got {', '.join(names)}")

    def __len__(self) -> int:
        return int(self.data.count_rows())

    def chunks(
        self, after: int = 0, until: int | None = None, *, threads: bool = True
    ) -> Iterator[tuple[int, Lists]]:
        """Yield chunks of the rows from ``after`` to ``until``, and at how many each one ends."""
        skipped = 0
        parts: list[Any] = []
        for part in (p for file in self.data.get_fragments() for p in file.split_by_row_group()):
            size = sum(group.num_rows for group in part.row_groups)
            if not parts and skipped + size <= after:
                skipped += size
            else:
                parts.append(part)
        rest = datasets.FileSystemDataset(
            parts, self.data.schema, self.data.format, self.data.filesystem
        )
        first, last = skipped, len(self) if until is None else until
        for batch in rest.to_batches(
            columns=self.columns, batch_size=ROWS, batch_readahead=2, fragment_readahead=1,
            use_threads=threads,
        ):  # fmt: skip
            start, end = max(first, after), min(first + len(batch), last)
            if start < end:
                yield end, self._read(batch.slice(start - first, end - start), start)
            first += len(batch)
            if first >= last:
                return

    def _read(self, batch: Any, first: int) -> Lists:
        if "outcome" in batch.schema.names:
            batch = batch.filter(pc.is_in(batch["outcome"], pa.array(LEARNED)))
        for name in ("user", self._shown):
            if batch[name].null_count:
                raise InvalidData(f"{self.path} must have a value in column {name!r} of every row")
        coded = pc.dictionary_encode(batch["user"])
        shown = batch[self._shown]
        starts = _offsets(shown)
        flat = pc.list_flatten(shown)
        features, rows = self._items(batch, flat, first)
        examined, rewards = self._feedback(batch, starts, flat)
        return Lists(
            coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64), starts, rows,
            examined, rewards, features,
        )  # fmt: skip

    def _items(self, batch: Any, flat: Any, first: int) -> tuple[Floats, Ints]:
        if self.catalog is None:
            vectors = pc.list_flatten(batch["features"])
            values = pc.list_flatten(vectors).to_numpy(zero_copy_only=False)
            n = len(flat)
            if len(vectors) != n or not n or len(values) % n:
                raise InvalidData(f"{self.path} must have one vector per item in 'features'")
            found = np.ascontiguousarray(values, np.float64).reshape(n, -1)
            return validation.feature_rows("features", found, found.shape[1]), np.arange(n)
        assert self._ids is not None
        both_whole = pa.types.is_integer(flat.type) and pa.types.is_integer(self._ids.type)
        kind = pa.int64() if both_whole else pa.string()
        rows = pc.index_in(flat.cast(kind), value_set=self._ids.cast(kind))
        if rows.null_count:
            name = flat[int(np.argmax(rows.is_null().to_numpy(zero_copy_only=False)))]
            raise InvalidData(
                f"{self.path} must show items of the catalogue, got {str(name)!r} in one of the "
                f"rows from {first}"
            )
        return self.catalog._rows, rows.to_numpy().astype(np.int64)

    def _feedback(self, batch: Any, starts: Ints, flat: Any) -> tuple[Ints, Floats]:
        length = np.diff(starts)
        given, rewards = batch[self._click], np.zeros(len(flat))
        if self._click == "click":
            click = pc.fill_null(given.cast(pa.int64()), -1).to_numpy()
            at, place = np.flatnonzero(click >= 0), click[click >= 0]
        elif self._click == "clicks":
            at = np.repeat(np.arange(len(given)), np.diff(_offsets(given)))
            place = pc.list_flatten(given).to_numpy(zero_copy_only=False).astype(np.int64)
        else:
            at, place = _places_of(given, flat, starts)
        if (place < 0).any() or (place >= length[at]).any():
            raise InvalidData(f"{self.path} must have clicks on shown items in {self._click!r}")
        rewards[starts[at] + place] = 1.0
        last = np.full(len(length), -1)
        np.maximum.at(last, at, place)
        examined = np.where(last < 0, length, last + 1)
        if "examined" in batch.schema.names:
            told = batch["examined"]
            known = pc.fill_null(told.cast(pa.int64()), -1).to_numpy()
            examined = np.where(known >= 0, known, examined)
            least = np.maximum(last + 1, np.minimum(length, 1))
            if (examined < least).any() or (examined > length).any():
                raise InvalidData(
                    f"{self.path} must have 'examined' from the last click to the end"
                )
        return examined, rewards


def _id_array(ids: Sequence[Hashable]) -> Any:
    """Return the ids of items as an Arrow array: whole numbers if all are, otherwise strings."""
    if isinstance(ids, range) or all(type(each) is int and each.bit_length() < 64 for each in ids):
        return pa.array(ids, pa.int64())
    return pa.array([str(each) for each in ids])


def _offsets(lists: Any) -> Ints:
    """Return where lists start, and where the last one ends; a null is an empty list."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
    return np.concatenate([[0], np.cumsum(lengths)])


def _places_of(clicked: Any, flat: Any, starts: Ints) -> tuple[Ints, Ints]:
    """Return list and place of each clicked id."""
    names = flat.cast(pa.string()).to_pylist()
    at = np.repeat(np.arange(len(clicked)), np.diff(_offsets(clicked)))
    place = []
    for n, name in zip(
        at.tolist(), pc.list_flatten(clicked).cast(pa.string()).to_pylist(), strict=True
    ):
        shown = names[starts[n] : starts[n + 1]]
        place.append(shown.index(name) if name in shown else -1)
    return at, np.array(place, np.int64)


def learn_log(
    policy: Policy,
    log: str | os.PathLike[str],
    catalog: Catalog | None = None,
    *,
    tail: float = 0.05,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Policy:
    """Learn a log of lists of any size, in bounded memory; return the policy that learned it.

    What a linear model learns of a user are sums, and sums need no order between users.
    ``C3UCB``, ``MultipleLinUCB``, ``KnownClusters`` and ``CohortCascade`` that have learned nothing
    yet therefore take the first part of the log as sums of users, at a fraction of the cost, and
    cohorts are found from the sums. ``CohortCascade`` learns the last part in order, list by list:
    its choice of predictors, its noise and its memory of items need it. Other policies depend on
    the order by their definition, and learn all of it in order.

    Parameters
    ----------
    policy
        The policy. It is changed, and returned.
    log
        A Parquet file, or a folder of them (an export of the service, say), see
        :class:`clubcascade.training.ListDataset`.
    catalog
        The items that ids of the log name; none if the log has vectors.
    tail
        Share of the log that ``CohortCascade`` learns in order, after the sums.
    workers
        Threads that add up; by default one per core. The result is the same for any number.
    checkpoint
        A folder. What was learned is saved there from time to time, and a call with the same
        arguments goes on from it after a stop. It is empty again at the end.
    progress
        Told what is being done, how many lists are done, of how many.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet
    >>> log = pa.table({"user": ["ann", "bob"], "shown": [[0, 1], [1, 0]], "click": [1, None]})
    >>> from clubcascade import MultipleLinUCB
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(log, f"{folder}/day-1.parquet")
    ...     learned = learn_log(MultipleLinUCB(n_features=2), folder, Catalog(np.eye(2)))
    >>> learned.statistics("ann")
    (array([[1., 0.], [0., 1.]]), array([0., 1.]), 2)
    """
    data = ListDataset(log, catalog)
    tail = validation.number("tail", tail, low=0, high=1)
    workers = validation.whole("workers", workers or os.cpu_count() or 1, low=1, high=256)
    total = len(data)
    saved = None if checkpoint is None else _Checkpoint(Path(checkpoint), data, total)
    done = 0
    if saved is not None and (found := saved.read()) is not None:
        policy, done = found
    if not done and learns_sums(policy):
        done = int(total * (1 - tail)) if isinstance(policy, CohortCascade) else total
        _learn_sums(policy, data, done, workers, progress)
        if saved is not None:
            saved.write(policy, done)
    kept = done
    for end, lists in _ahead(data.chunks(done), workers):
        _learn_in_order(policy, lists, data.catalog)
        done = end
        progress("learning in order", done, total)
        if saved is not None and done - kept >= saved.EVERY:
            saved.write(policy, done)
            kept = done
    if saved is not None:
        saved.remove()
    return policy


def _learn_sums(
    policy: Any, data: ListDataset, last: int, workers: int, progress: Progress
) -> None:
    """Learn the first rows of a log as sums of users."""
    chunks = data.chunks(0, last, threads=workers > 1)
    with BulkSums(policy, workers) as sums:
        for end, lists in _ahead(chunks, workers):
            _check_features(policy, lists)
            sums.add(lists.users, lists.user, lists.content)
            progress("adding up", end, last)


def _ahead(chunks: Iterator[tuple[int, Lists]], workers: int) -> Iterator[tuple[int, Lists]]:
    """Yield chunks; with more than one worker, the next one is read meanwhile."""
    if workers == 1:
        yield from chunks
        return
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = reader.submit(next, chunks, None)
            yield chunk


def _check_features(policy: Policy, lists: Lists) -> None:
    d = lists.features.shape[1]
    if policy.n_features not in (None, d):
        raise InvalidItems(f"items must have {policy.n_features} features, got {d}")


def _learn_in_order(policy: Policy, lists: Lists, catalog: Catalog | None) -> None:
    """Learn a chunk list by list: stretches of lists of one length."""
    _check_features(policy, lists)
    length = np.diff(lists.starts)
    changes = np.flatnonzero(np.diff(length)) + 1
    items = Catalog(lists.features) if catalog is None else catalog
    compiled = isinstance(policy, CompiledPolicy) and policy.is_unchanged
    for first, end in pairwise([0, *changes.tolist(), len(lists)]):
        if end == first or not length[first]:
            continue
        part = slice(lists.starts[first], lists.starts[end])
        rows = lists.rows[part].reshape(end - first, -1)
        rewards, examined = lists.rewards[part].reshape(rows.shape), lists.examined[first:end]
        users = [lists.users[code] for code in lists.user[first:end].tolist()]
        if compiled:
            policy._check_newcomers(users)  # type: ignore[attr-defined]
            policy._learn_in_turns(users, items, rows, examined, rewards)  # type: ignore[attr-defined]
            continue
        for user, shown, seen, hit in zip(users, rows, examined, rewards > 0, strict=True):
            clicks = tuple(np.flatnonzero(hit).tolist())
            policy.update(user, items[shown], Feedback(int(seen), clicks))


class _Checkpoint:
    """A policy and how far it is, in a folder; the file ``at.json`` names the model that counts."""

    EVERY = 2_000_000
    """Lists after which what was learned is saved again."""

    def __init__(self, folder: Path, data: ListDataset, total: int) -> None:
        self.folder, self.mark = folder, folder / "at.json"
        self.log = {"files": [Path(each).name for each in data.data.files], "rows": total}
        folder.mkdir(parents=True, exist_ok=True)

    def read(self) -> tuple[Policy, int] | None:
        """Return the policy and the number of rows it has learned, if there are any."""
        if not self.mark.exists():
            return None
        found = json.loads(self.mark.read_text())
        if found["log"] != self.log:
            raise InvalidArgument(
                f"checkpoint must be one of this log, got {str(self.folder)!r} of another one; "
                f"remove it to start anew"
            )
        return load(self.folder / found["model"]), int(found["done"])

    def write(self, policy: Policy, done: int) -> None:
        """Save a policy; the one before is removed once the new one counts."""
        name = f"{done}.cc"
        policy.save(self.folder / name)
        with written(self.mark) as file:
            file.write(json.dumps({"model": name, "done": done, "log": self.log}).encode())
        for old in self.folder.glob("*.cc"):
            if old.name != name:
                old.unlink()

    def remove(self) -> None:
        """Remove the files."""
        self.mark.unlink(missing_ok=True)
        for old in self.folder.glob("*.cc"):
            old.unlink()
