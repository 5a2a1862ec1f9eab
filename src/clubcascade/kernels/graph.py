"""A graph that loses edges (decremental connectivity): components, and what a cut splits off.

Two ways to hold the edges, one interface: rows of bits (the complete start) or lists of
neighbours with room to grow (sparse starts). Work of a split is bounded by its smaller side: the
two ends are searched in turn, and the first to run out of users is the piece that is relabelled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Ints, Words
from clubcascade.kernels.jit import Struct, kernel, struct

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@struct
class Graph(Struct):
    """Edges and components.

    ``bits`` (n x words, no columns when sparse); ``begin``, ``degree``, ``room`` and ``others``
    (lists of neighbours; ``degree`` counts for both kinds); ``label`` (component of each user);
    ``size`` (users per label); ``spare`` (labels given back, ``n_spare`` of the ``n_labels`` ever
    used); ``n_entries`` of ``others`` are in use. The rest is scratch: ``mark`` (number of the last
    ``search`` that reached a user), ``queue_a``, ``queue_b``, ``moved`` (users split off by the
    last cut, piece after piece), ``piece`` (rows: label, end in ``moved``, label of the component
    that it left), ``anchor`` (a user that stayed in the component of the last cut).
    """

    bits: Words
    begin: Ints
    degree: Ints
    room: Ints
    others: Ints
    label: Ints
    size: Ints
    spare: Ints
    mark: Ints
    queue_a: Ints
    queue_b: Ints
    moved: Ints
    piece: Ints
    n_labels: int
    n_spare: int
    n_entries: int
    search: int
    anchor: int


@kernel
def is_dense(graph: Graph) -> bool:
    """Tell whether the edges are held as rows of bits."""
    return graph.bits.shape[1] > 0


@kernel
def trailing(word: np.uint64) -> int:
    """Position of the lowest set bit."""
    place = 0
    if word & np.uint64(0xFFFFFFFF) == _ZERO:
        place += 32
        word >>= np.uint64(32)
    if word & np.uint64(0xFFFF) == _ZERO:
        place += 16
        word >>= np.uint64(16)
    if word & np.uint64(0xFF) == _ZERO:
        place += 8
        word >>= np.uint64(8)
    while word & _ONE == _ZERO:
        place += 1
        word >>= _ONE
    return place


@kernel
def neighbours(graph: Graph, i: int, out: Any) -> int:
    """Write the neighbours of ``i`` to ``out``; return how many."""
    found = 0
    if is_dense(graph):
        for w in range(graph.bits.shape[1]):
            word = graph.bits[i, w]
            while word != _ZERO:
                out[found] = 64 * w + trailing(word)
                found += 1
                word &= word - _ONE
        return found
    first = graph.begin[i]
    for e in range(graph.degree[i]):
        out[e] = graph.others[first + e]
    return graph.degree[i]


@kernel
def _drop(graph: Graph, i: int, l: int) -> None:  # noqa: E741
    """Take ``l`` out of the neighbours of ``i``."""
    if is_dense(graph):
        graph.bits[i, l >> 6] &= ~(_ONE << np.uint64(l & 63))
    else:
        first = graph.begin[i]
        last = first + graph.degree[i] - 1
        for e in range(first, last + 1):
            if graph.others[e] == l:
                graph.others[e] = graph.others[last]
                break
    graph.degree[i] -= 1


@kernel
def _put(graph: Graph, i: int, l: int) -> None:  # noqa: E741
    """Add ``l`` to the list of neighbours of ``i``, which must have room."""
    graph.others[graph.begin[i] + graph.degree[i]] = l
    graph.degree[i] += 1


@kernel
def _share_neighbour(graph: Graph, i: int, l: int) -> bool:  # noqa: E741
    if is_dense(graph):
        for w in range(graph.bits.shape[1]):
            if graph.bits[i, w] & graph.bits[l, w] != _ZERO:
                return True
        return False
    for e in range(graph.begin[i], graph.begin[i] + graph.degree[i]):
        a = graph.others[e]
        for f in range(graph.begin[l], graph.begin[l] + graph.degree[l]):
            if graph.others[f] == a:
                return True
    return False


@kernel
def _reach(graph: Graph, user: int, queue: Any, end: int, mine: int, theirs: int) -> int:
    """Mark a user and queue it, if it is new; return the queue's end, -1 if theirs was here."""
    if graph.mark[user] == theirs:
        return -1
    if graph.mark[user] != mine:
        graph.mark[user] = mine
        queue[end] = user
        end += 1
    return end


@kernel
def _spread(graph: Graph, user: int, queue: Any, end: int, mine: int, theirs: int) -> int:
    """Mark the unmarked neighbours of ``user`` and queue them; -1 if the other search is met."""
    if is_dense(graph):
        for w in range(graph.bits.shape[1]):
            word = graph.bits[user, w]
            while word != _ZERO:
                end = _reach(graph, 64 * w + trailing(word), queue, end, mine, theirs)
                if end < 0:
                    return -1
                word &= word - _ONE
        return end
    for e in range(graph.begin[user], graph.begin[user] + graph.degree[user]):
        end = _reach(graph, graph.others[e], queue, end, mine, theirs)
        if end < 0:
            return -1
    return end


@kernel
def _race(graph: Graph, a: int, b: int) -> int:
    """Search from both ends in turn: 0 if connected, else the size of the exhausted side.

    Positive: the side of ``a`` is in ``queue_a``; negative: the side of ``b`` is in ``queue_b``.
    """
    graph.search += 2
    mark_a = graph.search
    mark_b = graph.search + 1
    graph.queue_a[0] = a
    graph.queue_b[0] = b
    graph.mark[a] = mark_a
    graph.mark[b] = mark_b
    head_a, head_b, end_a, end_b = 0, 0, 1, 1
    while True:
        if head_a == end_a:
            return end_a
        end_a = _spread(graph, graph.queue_a[head_a], graph.queue_a, end_a, mark_a, mark_b)
        if end_a < 0:
            return 0
        head_a += 1
        if head_b == end_b:
            return -end_b
        end_b = _spread(graph, graph.queue_b[head_b], graph.queue_b, end_b, mark_b, mark_a)
        if end_b < 0:
            return 0
        head_b += 1


@kernel
def new_label(graph: Graph) -> int:
    """Give a label that no user has."""
    if graph.n_spare > 0:
        graph.n_spare -= 1
        return graph.spare[graph.n_spare]
    graph.n_labels += 1
    return graph.n_labels - 1


@kernel
def free_label(graph: Graph, label: int) -> None:
    """Take back a label that no user has any more."""
    graph.spare[graph.n_spare] = label
    graph.n_spare += 1


@kernel
def cut(graph: Graph, i: int, removed: Any, n_removed: int) -> int:
    """Delete the edges between ``i`` and the first ``removed``; return how many pieces split off.

    Piece ``p`` left component ``piece[p, 2]`` with the new label ``piece[p, 0]``; its users end
    at ``piece[p, 1]`` in ``moved``.
    """
    for e in range(n_removed):
        _drop(graph, i, removed[e])
        _drop(graph, removed[e], i)
    pieces = 0
    end = 0
    whole = graph.label[i]
    anchor = i
    for e in range(n_removed):
        other = removed[e]
        if graph.label[other] != whole or graph.label[anchor] != whole or other == anchor:
            continue
        if _share_neighbour(graph, anchor, other):
            continue
        side = _race(graph, anchor, other)
        if side == 0:
            continue
        label = new_label(graph)
        queue = graph.queue_a if side > 0 else graph.queue_b
        for p in range(abs(side)):
            graph.label[queue[p]] = label
            graph.moved[end + p] = queue[p]
        end += abs(side)
        graph.size[label] = abs(side)
        graph.size[whole] -= abs(side)
        graph.piece[pieces, 0] = label
        graph.piece[pieces, 1] = end
        graph.piece[pieces, 2] = whole
        pieces += 1
        if side > 0:
            anchor = other
    graph.anchor = anchor
    return pieces


@kernel
def component(graph: Graph, i: int) -> int:
    """Write the users connected with ``i`` to ``queue_a``; return how many."""
    graph.search += 2
    mine = graph.search
    graph.queue_a[0] = i
    graph.mark[i] = mine
    head, end = 0, 1
    while head < end:
        end = _spread(graph, graph.queue_a[head], graph.queue_a, end, mine, mine + 1)
        head += 1
    return end


@kernel
def entries_with(graph: Graph, links: Ints) -> int:
    """Return how many entries of ``others`` are in use once a user with these links has joined."""
    end = graph.n_entries
    if not is_dense(graph):
        for e in range(links.shape[0]):
            degree = graph.degree[links[e]]
            if degree == graph.room[links[e]]:
                end += 2 * degree + 4
        end += links.shape[0]
    return end


@kernel
def _make_room(graph: Graph, i: int, links: Ints) -> None:
    """Give a new user a list, and a longer one to every full list that it will enter."""
    end = graph.n_entries
    for e in range(links.shape[0]):
        node = links[e]
        first, degree = graph.begin[node], graph.degree[node]
        if degree == graph.room[node]:
            for f in range(degree):
                graph.others[end + f] = graph.others[first + f]
            graph.begin[node], graph.room[node] = end, 2 * degree + 4
            end += 2 * degree + 4
    graph.begin[i], graph.room[i] = end, links.shape[0]
    graph.n_entries = end + links.shape[0]


@kernel
def labels_of(graph: Graph, links: Ints) -> int:
    """Write the components of these users to ``moved``, rising; return how many."""
    label, mark, moved = graph.label, graph.mark, graph.moved
    graph.search += 2
    search, found = graph.search, 0
    for e in range(links.shape[0]):
        one = label[links[e]]
        if mark[one] != search:
            mark[one] = search
            moved[found] = one
            found += 1
    moved[:found].sort()
    return found


@kernel
def _link_everyone(graph: Graph, i: int, home: int) -> None:
    """Link a new user of a dense graph with all before it, and make them one component."""
    bits, degree, label = graph.bits, graph.degree, graph.label
    word, bit = i >> 6, _ONE << np.uint64(i & 63)
    for w in range(word):
        bits[i, w] = ~_ZERO
    bits[i, word] = bit - _ONE
    for other in range(i):
        bits[other, word] |= bit
        degree[other] += 1
        label[other] = home
    degree[i] = i


@kernel
def join(graph: Graph, i: int, links: Ints) -> int:
    """Let user ``i`` in with these links; return how many components it merged into its own.

    Its own is the largest of those that it is linked with. The labels of the others are the first
    of ``moved``. ``others`` must have room for :func:`entries_with` entries.
    """
    label, size = graph.label, graph.size
    found, home, merged = labels_of(graph, links), -1, 0
    for e in range(found):
        if home < 0 or size[graph.moved[e]] > size[home]:
            home = graph.moved[e]
    for e in range(found):
        other = graph.moved[e]
        if other != home:
            size[home] += size[other]
            free_label(graph, other)
            graph.moved[merged] = other
            merged += 1
    if home < 0:
        home = new_label(graph)
        size[home] = 0
    if is_dense(graph):
        _link_everyone(graph, i, home)
    else:
        for e in range(links.shape[0]):
            if label[links[e]] != home:
                for p in range(component(graph, links[e])):
                    label[graph.queue_a[p]] = home
        _make_room(graph, i, links)
        for e in range(links.shape[0]):
            _put(graph, i, links[e])
            _put(graph, links[e], i)
    label[i] = home
    size[home] += 1
    return merged
