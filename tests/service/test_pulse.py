from clubcascade.service.pulse import Pulse


def moves(*stories):
    """Who moved, after looks at these clusters."""
    pulse = Pulse()
    for groups in stories:
        users = sorted(set().union(*groups))
        pulse._note_moves([set(group) for group in groups], {u: n for n, u in enumerate(users)})
    return [(told["user"], told["from"], told["to"]) for told in pulse.tell()["moves"]]


def test_one_who_moves():
    assert moves(["abc", "def"], ["ac", "bdef"]) == [("b", "a", "b")]  # now the oldest there
    assert moves(["abc", "def"], ["abcd", "ef"]) == [("d", "e", "a")]


def test_the_oldest_moves_and_the_others_stay():
    assert [user for user, _, _ in moves(["abc", "de"], ["bc", "ade"])] == ["a"]


def test_newcomers_and_the_first_look_are_no_moves():
    assert moves(["abc"]) == []
    assert moves(["ab"], ["abc", "d"]) == []


def test_a_cluster_that_splits():
    assert sorted(moves(["abcde"], ["abc", "de"])) == [("d", "a", "d"), ("e", "a", "d")]


def test_clusters_that_merge():
    assert sorted(moves(["abc", "de"], ["abcde"])) == [("d", "d", "a"), ("e", "d", "a")]
