"""The graph over the users: only its newcomers bring edges, otherwise it loses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clubcascade.core import Ints, array_of, fill
from clubcascade.graph.reading import check_edges
from clubcascade.graph.start import ErdosRenyi, Start
from clubcascade.kernels import erdos_renyi
from clubcascade.kernels import graph as kernels

_PER_USER = ("begin", "degree", "room", "label", "size", "spare", "mark", "queue_a", "queue_b")
_COUNTS = ("n_labels", "n_spare", "n_entries", "search", "anchor")


class UserGraph:
    """Edges between users 0, 1, ... and the components they form.

    Parameters
    ----------
    start
        Which edges a user brings along.
    n
        Users known beforehand.

    Examples
    --------
    >>> from clubcascade.graph import Complete
    >>> graph = UserGraph(Complete(), n=3)
    >>> graph.cut(0, np.array([1, 2]))
    [(1, [0])]
    >>> graph.labels().tolist()
    [1, 0, 0]
    >>> graph.join()
    (3, 0, [1])
    >>> graph.labels().tolist()
    [0, 0, 0, 0]
    """

    def __init__(self, start: Start, n: int = 0) -> None:
        start.check(n)
        self.start = start
        self.n = n
        self._allocate(max(n, 8))
        n_entries = 0
        if start.dense:
            self._fill_complete()
        elif n:
            n_entries = self._fill_sparse()
        n_labels = self._label_all(n_entries)
        self.struct: Any = None
        self.bind(n_labels=n_labels, n_entries=n_entries)

    def bind(self, **counts: int) -> None:
        """Bind the arrays into the structure that the kernels take; after any of them changed."""
        known = dict.fromkeys(_COUNTS, 0) if self.struct is None else self.struct.scalars()
        self.struct = kernels.Graph.make(**self.arrays, **(known | counts))

    # -- growth -------------------------------------------------------------------------------

    def _allocate(self, capacity: int) -> None:
        words = (capacity + 63) // 64 if self.start.dense else 0
        small = {name: np.zeros(capacity, np.int64) for name in _PER_USER}
        self.arrays: dict[str, npt.NDArray[Any]] = {
            **small,
            "bits": np.zeros((capacity if words else 1, words), np.uint64),
            "others": np.zeros(16, np.int64),
            "moved": np.zeros(capacity, np.int64),
            "piece": np.zeros((capacity, 3), np.int64),
        }
        self.capacity = capacity

    def _grow(self) -> None:
        old, n = self.arrays, self.n
        self._allocate(2 * self.capacity)
        for name in _PER_USER:
            self.arrays[name][:n] = old[name][:n]
        if self.start.dense:
            words = old["bits"].shape[1]
            self.arrays["bits"][: len(old["bits"]), :words] = old["bits"]
        self.arrays["others"] = old["others"]

    def _fill_complete(self) -> None:
        bits = np.zeros((self.n, 64 * self.arrays["bits"].shape[1]), np.uint8)
        bits[:, : self.n] = 1
        np.fill_diagonal(bits, 0)
        packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        self.arrays["bits"][: self.n] = packed
        self.arrays["degree"][: self.n] = self.n - 1

    def _fill_sparse(self) -> int:
        """Write the lists of neighbours; return how many entries they have."""
        start, a = self.start, self.arrays
        assert isinstance(start, ErdosRenyi)
        total = int(erdos_renyi.count_edges(start.key, self.n, start.p, a["degree"]))
        degree = a["degree"][: self.n].copy()
        a["room"][: self.n] = degree
        a["begin"][: self.n] = np.cumsum(degree) - degree
        a["others"] = np.zeros(max(total, 16), np.int64)
        a["degree"][: self.n] = 0
        erdos_renyi.fill_neighbours(
            start.key, self.n, start.p, a["begin"], a["degree"], a["others"]
        )
        return total

    def _label_all(self, n_entries: int) -> int:
        """Label the components; return how many there are."""
        a = self.arrays
        if self.start.dense or self.n == 0:
            count, labels = min(self.n, 1), np.zeros(self.n, np.int64)
        else:
            ends = np.append(a["begin"][: self.n], n_entries)
            edges = (np.ones(int(ends[-1]), np.int8), a["others"][: ends[-1]], ends)
            count, found = connected_components(csr_array(edges, shape=(self.n, self.n)))
            labels = found.astype(np.int64)
        a["label"][: self.n] = labels
        a["size"][:count] = np.bincount(labels, minlength=count)
        return int(count)

    # -- questions ----------------------------------------------------------------------------

    @property
    def n_labels(self) -> int:
        """Labels ever used, those given back included."""
        return int(self.struct.n_labels)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return self.n_labels - int(self.struct.n_spare)

    def labels(self) -> Ints:
        """Return the component of each user, as a copy."""
        return np.array(self.arrays["label"][: self.n], dtype=np.intp)

    def neighbours(self, i: int) -> Ints:
        """Return the users linked with ``i``."""
        out = np.empty(self.n, np.int64)
        return out[: kernels.neighbours(self.struct, i, out)]

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield every edge once, the lower user first."""
        for i in range(self.n):
            for other in sorted(self.neighbours(i).tolist()):
                if other > i:
                    yield i, other

    def links_of_newcomer(self) -> Ints:
        """Return the users that the next user to join will be linked with."""
        return self.start.links(self.n)

    # -- changes ------------------------------------------------------------------------------

    def cut(self, i: int, others: Ints) -> list[tuple[int, list[int]]]:
        """Delete the edges between ``i`` and ``others``; return the pieces: (label, users)."""
        removed = np.asarray(others, dtype=np.int64)
        pieces = kernels.cut(self.struct, i, removed, len(removed))
        moved, piece = self.arrays["moved"], self.arrays["piece"]
        bounds = [0, *piece[:pieces, 1].tolist()]
        return [
            (int(piece[p, 0]), moved[bounds[p] : bounds[p + 1]].tolist()) for p in range(pieces)
        ]

    def join(self) -> tuple[int, int, list[int]]:
        """Let the next user in; return it, its label, and the labels merged into that one."""
        i, a = self.n, self.arrays
        self.start.check(i + 1)
        links = np.asarray(self.links_of_newcomer(), dtype=np.int64)
        if i == self.capacity:
            self._grow()
            a = self.arrays
        n_entries = 0 if self.start.dense else self._make_room(i, links)
        self.n += 1
        self.bind(n_entries=n_entries)
        found = np.unique(a["label"][links])
        if found.size:
            home = int(found[np.argmax(a["size"][found])])
        else:
            home = kernels.new_label(self.struct)
            a["size"][home] = 0
        merged = [int(label) for label in found if label != home]
        for label in merged:
            first = links[a["label"][links] == label][0]
            members = a["queue_a"][: kernels.component(self.struct, first)]
            a["label"][members] = home
            a["size"][home] += len(members)
            kernels.free_label(self.struct, label)
        kernels.connect(self.struct, i, links)
        a["label"][i] = home
        a["size"][home] += 1
        return i, home, merged

    def _make_room(self, i: int, links: Ints) -> int:
        """Give the new user a list, and a longer one to every full list that it will enter.

        Return how many entries are in use then.
        """
        a = self.arrays
        full = links[a["degree"][links] == a["room"][links]]
        rooms = np.append(2 * a["degree"][full] + 4, len(links))
        begin = self.struct.n_entries + np.cumsum(rooms) - rooms
        end = int(self.struct.n_entries + rooms.sum())
        if end > len(a["others"]):
            more = np.zeros(2 * end, np.int64)
            more[: len(a["others"])] = a["others"]
            a["others"] = more
        for node, at in zip(full, begin, strict=False):
            degree = a["degree"][node]
            old = a["begin"][node]
            a["others"][at : at + degree] = a["others"][old : old + degree]
        nodes = np.append(full, i)
        a["begin"][nodes], a["room"][nodes] = begin, rooms
        return end

    # -- state --------------------------------------------------------------------------------

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the graph as arrays; the order within each list of neighbours is kept."""
        a, n = self.arrays, self.n
        n_spare = int(self.struct.n_spare)
        spare = a["spare"][:n_spare]
        kept = {"label": a["label"][:n], "size": a["size"][:n], "spare": spare}
        kept["tally"] = np.array([self.n_labels, n_spare])
        if self.start.dense:
            kept["bits"] = a["bits"][:n, : (n + 63) // 64]
        else:
            bounds = zip(a["begin"][:n], a["degree"][:n], strict=True)
            lists = [a["others"][first : first + degree] for first, degree in bounds]
            kept["others"] = np.concatenate([np.zeros(0, np.int64), *lists])
        kept["degree"] = a["degree"][:n]
        return {name: value.copy() for name, value in kept.items()}

    @classmethod
    def from_state(
        cls, start: Start, state: Mapping[str, Any], n: int, prefix: str = ""
    ) -> UserGraph:
        """Build the graph of ``n`` users that :meth:`state` described, its names with a prefix."""
        graph = cls(start)
        graph.n = n
        graph._allocate(max(n, 8))
        a = graph.arrays
        counts = array_of(state, f"{prefix}tally", (2,), np.int64)
        n_labels, n_spare, n_entries = int(counts[0]), int(counts[1]), 0
        for name, length in (("label", n), ("size", n), ("degree", n), ("spare", n_spare)):
            below = {"label": n_labels, "degree": n, "spare": n_labels}.get(name)
            fill(a[name][:length], state, prefix + name, below)
        if start.dense:
            fill(a["bits"][:n, : (n + 63) // 64], state, f"{prefix}bits")
        else:
            degree = a["degree"][:n]
            n_entries = int(degree.sum())
            others = array_of(state, f"{prefix}others", (n_entries,), np.int64, below=n)
            a["others"] = np.append(others, np.zeros(16, np.int64))
            a["room"][:n] = degree
            a["begin"][:n] = np.cumsum(degree) - degree
        check_edges(a, n, counts, start.dense, prefix)
        graph.bind(n_labels=n_labels, n_spare=n_spare, n_entries=n_entries)
        return graph
