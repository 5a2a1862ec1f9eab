"""The graph over the users: only its newcomers bring edges, otherwise it loses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clubcascade.core import Ints, array_of, fill
from clubcascade.core.paged_arrays import aligned_zeros, grown
from clubcascade.graph.reading import check_edges
from clubcascade.graph.start import ErdosRenyi, Start
from clubcascade.kernels import erdos_renyi
from clubcascade.kernels import graph as kernels

_PER_USER = (
    *("begin", "degree", "room", "label", "size", "spare"),
    *("mark", "queue_a", "queue_b", "moved"),
)
_COUNTS = ("n_labels", "n_spare", "n_entries", "search", "anchor")


class UserGraph:
    """Edges between users 0, 1, ... and the components they form.

    ``start`` says which edges a user brings along; ``n`` users are known beforehand.

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
        self._allocate(max(n, 8), {})
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

    def _allocate(self, capacity: int, old: Mapping[str, npt.NDArray[Any]]) -> None:
        """Make arrays for so many users, with what is in the old ones."""
        words = (capacity + 63) // 64 if self.start.dense else 0
        room = {name: grown(old.get(name), capacity, dtype=np.int64) for name in _PER_USER}
        room["piece"] = grown(old.get("piece"), capacity, 3, dtype=np.int64)
        room["others"] = old["others"] if old else grown(None, 16, dtype=np.int64)
        room["bits"] = aligned_zeros(capacity if words else 1, words, dtype=np.uint64)
        if old and words:
            room["bits"][: len(old["bits"]), : old["bits"].shape[1]] = old["bits"]
        self.arrays, self.capacity = room, capacity

    def reserve(self, links: Ints) -> bool:
        """Make room for one more user with these links; tell whether arrays changed for it."""
        self.start.check(self.n + 1)
        full, entries = self.n == self.capacity, kernels.entries_with(self.struct, links)
        if full:
            self._allocate(2 * self.capacity, self.arrays)
        if entries > len(self.arrays["others"]):
            self.arrays["others"] = grown(self.arrays["others"], 2 * entries)
        elif not full:
            return False
        self.bind()
        return True

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
        a["others"] = grown(None, max(total, 16), dtype=np.int64)
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

    def labels_of_newcomer(self) -> Ints:
        """Return the components that the next user to join will merge, rising."""
        found = kernels.labels_of(self.struct, self.links_of_newcomer())
        return self.arrays["moved"][:found].copy()

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
        i, links = self.n, self.links_of_newcomer()
        self.reserve(links)
        n_merged = kernels.join(self.struct, i, links)
        self.n += 1
        return i, int(self.arrays["label"][i]), self.arrays["moved"][:n_merged].tolist()

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
        graph._allocate(max(n, 8), {})
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
            a["others"] = grown(None, n_entries + 16, dtype=np.int64)
            a["others"][:n_entries] = others
            a["room"][:n] = degree
            a["begin"][:n] = np.cumsum(degree) - degree
        check_edges(a, n, counts, start.dense, prefix)
        graph.bind(n_labels=n_labels, n_spare=n_spare, n_entries=n_entries)
        return graph
