"""Random graphs and random cuts against networkx, dense and sparse, with users who join."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.errors import InvalidArgument
from clubcascade.graph import Complete, ErdosRenyi, UserGraph
from clubcascade.graph.start import MAX_COMPLETE
from tests.reference.problems import examples


def plain(graph):
    other = nx.Graph()
    other.add_nodes_from(range(graph.n))
    other.add_edges_from(graph.edges())
    return other


def agree(graph, other):
    labels = graph.labels()
    groups = {}
    for user, label in enumerate(labels.tolist()):
        groups.setdefault(label, set()).add(user)
    assert sorted(map(sorted, groups.values())) == sorted(
        map(sorted, nx.connected_components(other))
    )
    assert graph.n_components == len(groups)
    sizes = graph.arrays["size"]
    for label, users in groups.items():
        assert sizes[label] == len(users)
    for user in range(graph.n):
        assert set(graph.neighbours(user).tolist()) == set(other[user])


@st.composite
def starts(draw):
    if draw(st.booleans()):
        return Complete()
    return ErdosRenyi(draw(st.floats(0.0, 1.0)), draw(st.integers(0, 2**63)))


@examples(200)
@given(start=starts(), n=st.integers(0, 20), seed=st.integers(0, 2**32 - 1))
def test_cuts_and_joins_agree_with_networkx(start, n, seed):
    rng = np.random.default_rng(seed)
    graph = UserGraph(start, n)
    other = plain(graph)
    agree(graph, other)
    for _ in range(25):
        if graph.n == 0 or rng.random() < 0.2:
            links = graph.links_of_newcomer().tolist()
            before = graph.labels()
            user, label, merged = graph.join()
            other.add_node(user)
            other.add_edges_from((user, link) for link in links)
            assert label == graph.labels()[user]
            assert set(merged) | {label} >= {int(before[link]) for link in links}
        else:
            user = int(rng.integers(graph.n))
            near = list(other[user])
            gone = [link for link in near if rng.random() < rng.choice([0.2, 0.8, 1.0])]
            before = graph.labels()
            pieces = graph.cut(user, np.array(gone, dtype=np.int64))
            other.remove_edges_from((user, link) for link in gone)
            for label, users in pieces:
                assert (graph.labels()[users] == label).all()
                assert len({int(before[member]) for member in users}) == 1
        agree(graph, other)
        again = UserGraph.from_state(start, graph.state(), graph.n)
        agree(again, other)
        for name, value in graph.state().items():
            np.testing.assert_array_equal(value, again.state()[name])


@pytest.mark.parametrize("start", [Complete(), ErdosRenyi(0.5, 1)])
def test_a_state_whose_parts_do_not_fit_is_refused(start):
    graph = UserGraph(start, 6)
    graph.cut(0, np.array([other for other in range(1, 6) if (0, other) in graph.edges()]))
    for name, value in graph.state().items():
        if name in ("label", "tally"):
            continue
        longer = np.concatenate([value, np.zeros((1, *value.shape[1:]), value.dtype)])
        with pytest.raises(ValueError, match=f"{name} must have"):
            UserGraph.from_state(start, graph.state() | {name: longer}, graph.n)


def test_one_cut_makes_several_pieces():
    graph = UserGraph(ErdosRenyi(1.0, 1), 4)
    for user in (1, 2, 3):
        graph.cut(user, np.array([other for other in (1, 2, 3) if other > user]))
    assert graph.n_components == 1  # a star around user 0
    pieces = graph.cut(0, np.array([1, 2, 3]))
    assert len(pieces) == 3
    assert graph.n_components == 4


def test_known_users_are_users_who_joined_one_by_one():
    start = ErdosRenyi(0.3, 99)
    at_once, one_by_one = UserGraph(start, 30), UserGraph(start)
    for _ in range(30):
        one_by_one.join()
    assert list(at_once.edges()) == list(one_by_one.edges())


def test_erdos_renyi_has_the_expected_number_of_edges():
    n, p = 400, 0.05
    graph = UserGraph(ErdosRenyi(p, 5), n)
    expected = p * n * (n - 1) / 2
    assert abs(len(list(graph.edges())) - expected) < 5 * np.sqrt(expected)


def test_complete_start_refuses_too_many_users_and_names_the_sparse_one():
    with pytest.raises(InvalidArgument, match='start="random"'):
        UserGraph(Complete(), MAX_COMPLETE + 1)


@pytest.mark.compiled  # long
def test_a_small_piece_of_a_huge_component_is_the_one_that_moves():
    graph = UserGraph(ErdosRenyi(20 / 20_000, 3), 20_000)
    user = int(np.argmax(graph.labels() == np.bincount(graph.labels()).argmax()))
    pieces = graph.cut(user, graph.neighbours(user))
    assert [users for _, users in pieces] == [[user]]


@pytest.mark.parametrize("start", [Complete(), ErdosRenyi(1.0, 4)], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_more_users_than_a_word_has_bits(start, n):
    """All edges go but those of a ring through all users, so that paths lead from word to word."""
    rng = np.random.default_rng(n)
    order = rng.permutation(n)
    ring = nx.Graph([(int(order[i - 1]), int(order[i])) for i in range(n)])
    graph = UserGraph(start, n)
    for user in range(n):
        gone = [other for other in graph.neighbours(user).tolist() if other not in ring[user]]
        assert graph.cut(user, np.array(gone, dtype=np.int64)) == []
    agree(graph, ring)
    for _ in range(10):
        user = int(rng.integers(n))
        gone = [other for other in ring[user] if rng.random() < 0.7]
        graph.cut(user, np.array(gone, dtype=np.int64))
        ring.remove_edges_from((user, other) for other in gone)
        agree(graph, ring)
    graph.join()
    ring.add_edges_from((n, user) for user in range(n))
    agree(graph, ring)


@pytest.mark.parametrize("start", [Complete(), ErdosRenyi(0.3, 4)], ids=["dense", "sparse"])
def test_a_loaded_graph_goes_on_as_the_saved_one(start):
    graph = UserGraph(start, 12)
    rng = np.random.default_rng(2)
    for _ in range(40):
        user = int(rng.integers(graph.n))
        graph.cut(user, graph.neighbours(user)[:2].copy())
        graph = UserGraph.from_state(start, graph.state(), graph.n)
        other = plain(graph)
        links = graph.links_of_newcomer().tolist()
        number, _, _ = graph.join()
        other.add_node(number)
        other.add_edges_from((number, link) for link in links)
        agree(graph, other)


@pytest.mark.parametrize("start", [Complete(), ErdosRenyi(0.5, 7)])
def test_edges_and_labels_that_do_not_fit_are_refused(start):
    graph = UserGraph(start, 70)
    graph.cut(3, graph.neighbours(3))
    kept = graph.state()
    assert UserGraph.from_state(start, kept, 70).n_components == graph.n_components
    spoilt = {
        "label": kept["label"][::-1].copy(),
        "size": kept["size"] + 1,
        "degree": np.roll(kept["degree"], 1),
        "tally": kept["tally"] + [1, 0],
    }
    for name in ("bits", "others"):
        if name in kept:
            spoilt[name] = np.roll(kept[name], 1, axis=0)
    for name, value in spoilt.items():
        with pytest.raises(ValueError, match=" must "):
            UserGraph.from_state(start, kept | {name: value}, 70)
