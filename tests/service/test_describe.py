import numpy as np
import pytest

import clubcascade as cc
from clubcascade.service import describe as module
from clubcascade.service.describe import Activity, clusters
from clubcascade.service.model import Model


def told(*stories):
    """Numbers of the clusters after each look, and who moved."""
    activity = Activity()
    numbers = [activity.number([set(group) for group in groups]) for groups in stories]
    moves = [(move["user"], move["from"], move["to"]) for move in activity.tell()["moves"]]
    return numbers, sorted(moves)


def test_one_who_moves():
    assert told(["abc", "def"], ["ac", "bdef"]) == ([[0, 1], [0, 1]], [("b", 0, 1)])
    assert told(["abc", "def"], ["ef", "abcd"]) == ([[0, 1], [1, 0]], [("d", 1, 0)])


def test_the_oldest_moves_and_the_others_stay():
    assert told(["abc", "de"], ["bc", "ade"]) == ([[0, 1], [0, 1]], [("a", 0, 1)])


def test_newcomers_and_the_first_look_are_no_moves():
    assert told(["abc"]) == ([[0]], [])
    assert told(["ab"], ["abc", "de"]) == ([[0], [0, 1]], [])


def test_a_cluster_that_splits():
    assert told(["abcde"], ["de", "abc"]) == ([[0], [1, 0]], [("d", 0, 1), ("e", 0, 1)])


def test_clusters_that_merge_and_a_number_rests_before_it_is_given_again(monkeypatch):
    stories = ["abc", "de"], ["abcde"], ["abcde", "fg"]
    numbers, moves = told(*stories)
    assert numbers == [[0, 1], [0], [0, 2]] and moves == [("d", 1, 0), ("e", 1, 0)]
    monkeypatch.setattr(module, "REST", 0.0)
    assert told(*stories)[0] == [[0, 1], [0], [0, 1]]


def test_larger_clusters_get_the_first_numbers():
    assert told(["ab", "cdef", "ghi"]) == ([[2, 0, 1]], [])


def test_users_alone_have_no_number():
    numbers, moves = told(["ab", "c", "d"], ["ac", "b", "d"], ["ab", "cd"])
    assert numbers == [[0, -1, -1], [0, -1, -1], [0, 1]]
    assert moves == [("b", -1, 0), ("b", 0, -1), ("c", -1, 0), ("c", 0, 1), ("d", -1, 1)]


def test_too_many_users_are_numbered_by_place(monkeypatch):
    monkeypatch.setattr(module, "MOST_USERS", 4)
    assert told(["abc", "de"], ["de", "abc"]) == ([[0, 1], [0, 1]], [])


class Fixed:
    """A policy with clusters that are given."""

    n_features = 2
    params = {}

    def __init__(self, groups):
        self.groups = [set(group) for group in groups]
        self.users = sorted(set().union(*self.groups))

    def registry_name(self):
        return "fixed"

    def clusters(self):
        return self.groups

    def cluster_weights(self, user):
        return np.eye(2)[user % 2]


def test_sizes_are_by_number_and_the_smallest_are_counted_together(monkeypatch):
    monkeypatch.setattr(module, "BANDS", 2)
    model = Model("fixed", Fixed([[1], [2, 3, 4], [5, 8], [6, 7, 9, 10], [11]]))
    activity = Activity()
    activity.look(model)
    assert [sizes for _, sizes in activity.tell()["clusters"]] == [[(0, 4), (1, 3), (-1, 4)]]


@pytest.mark.parametrize("n_items", [8, 3_000])
def test_a_cluster_says_in_words_what_it_likes(n_items):
    kinds = ["green tea", "black tea", "plum jam", "fig jam"]
    likes = np.array([[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 2)
    rows = np.arange(n_items) % 4
    model = Model("fixed", Fixed([[1, 3, 5], [2, 4]]))
    model.catalog = cc.Catalog(likes[rows], [f"{kinds[row]} {n}" for n, row in enumerate(rows)])
    jam, tea = clusters(model, Activity().number).clusters
    assert tea.likes.split(", ")[0] == "tea" and jam.likes.split(", ")[0] == "jam"
    assert (jam.cluster, jam.size, tea.cluster, tea.size) == (0, 3, 1, 2)
    model.metadata = {item: {"title": "A leaf", "kind": item[:9]} for item in model.catalog.ids}
    assert clusters(model, Activity().number).clusters[1].likes == "black tea, green tea"
    assert len(tea.taste) == 5 and all("tea" in item.id for item in tea.taste[:4])


def test_every_cluster_with_a_colour_has_words():
    model = Model("fixed", Fixed([[n, n + 100] for n in range(14)]))
    names = [f"{('tea', 'jam')[n % 2]} {n}" for n in range(8)]
    model.catalog = cc.Catalog(np.eye(2)[np.arange(8) % 2], names)
    activity = Activity()
    activity.look(model)
    ((_, sizes),) = activity.tell()["clusters"]
    words = {each.cluster: each.likes for each in clusters(model, activity.number).clusters}
    assert len(sizes) == 14
    assert {words.get(number) for number, _ in sizes} == {"tea", "jam"}
