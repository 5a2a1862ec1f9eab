"""Graphs that were read: what the kernels rely on, and could not do without, is checked once."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clubcascade.core import Ints, Words

_BLOCK = 512


def check_edges(
    arrays: dict[str, npt.NDArray[Any]], n: int, counts: Ints, dense: bool, prefix: str
) -> None:
    """Raise unless every edge has two ends and the labels are those of the components.

    ``counts`` are the labels ever used, and those of them that are spare.
    """
    label, degree = arrays["label"][:n], arrays["degree"][:n]
    if dense:
        found = _components_of_bits(arrays["bits"][:n], degree, prefix)
    else:
        found = _components_of_lists(arrays["others"], degree, prefix)
    pairs = len(set(zip(label.tolist(), found.tolist(), strict=True)))
    used = np.unique(label)
    if not pairs == len(used) == len(np.unique(found)):
        raise ValueError(f"{prefix}label must be the components of the graph")
    if not np.array_equal(arrays["size"][used], np.bincount(label)[used]):
        raise ValueError(f"{prefix}size must count the users of each label")
    labels, spare = counts.tolist()
    free = arrays["spare"][:spare]
    if not np.array_equal(np.sort(np.append(used, free)), np.arange(labels)):
        raise ValueError(f"{prefix}spare must be the labels below {labels} that no user has")


def _components_of_lists(others: Ints, degree: Ints, prefix: str) -> Ints:
    n = len(degree)
    ends = np.append(0, np.cumsum(degree))
    links = csr_array((np.ones(ends[-1], np.int8), others[: ends[-1]].copy(), ends), shape=(n, n))
    links.sort_indices()
    mirror = links.T.tocsr()
    mirror.sort_indices()
    of = np.repeat(np.arange(n), degree)
    twice = (np.diff(links.indices) == 0) & (np.diff(of) == 0)
    both = np.array_equal(links.indptr, mirror.indptr)
    if not both or not np.array_equal(links.indices, mirror.indices):
        raise ValueError(f"{prefix}others must name both ends of every edge")
    if twice.any() or (links.indices == of).any():
        raise ValueError(f"{prefix}others must name other users, each once")
    return np.asarray(connected_components(links, directed=False)[1])


def _components_of_bits(bits: Words, degree: Ints, prefix: str) -> Ints:
    n = len(bits)
    for first in range(0, n, _BLOCK):
        rows = np.unpackbits(bits[first : first + _BLOCK].view(np.uint8), axis=1, bitorder="little")
        words = bits[:, first // 64 : (first + _BLOCK) // 64]
        columns = np.unpackbits(
            np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little"
        )
        if rows[:, n:].any() or not np.array_equal(rows[:, :n], columns[:, : len(rows)].T):
            raise ValueError(f"{prefix}bits must hold both ends of every edge")
        if rows.diagonal(first).any():
            raise ValueError(f"{prefix}bits must hold edges to other users")
        if not np.array_equal(rows.sum(axis=1, dtype=np.int64), degree[first : first + _BLOCK]):
            raise ValueError(f"{prefix}degree must count the edges of bits")
    found = np.full(n, -1)
    for user in range(n):
        new = np.array([user]) if found[user] < 0 else np.empty(0, np.int64)
        while len(new):
            found[new] = user
            reached = np.zeros(bits.shape[1], np.uint64)
            for first in range(0, len(new), _BLOCK):
                reached |= np.bitwise_or.reduce(bits[new[first : first + _BLOCK]], axis=0)
            near = np.flatnonzero(np.unpackbits(reached.view(np.uint8), bitorder="little")[:n])
            new = near[found[near] < 0]
    return found
