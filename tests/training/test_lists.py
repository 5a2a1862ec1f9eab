"""Logs with lists are learned exactly, in their order."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument, InvalidData
from tests.features import made


def lists(n=200, seed=0, lengths=(4,)):
    """Users click the first item of their kind."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        user = int(rng.integers(12))
        shown = rng.choice(30, rng.choice(lengths), replace=False).tolist()
        clicked = next((item for item in shown if item % 3 == user % 3), None)
        rows.append(
            {
                "user": f"u{user}",
                "shown": "|".join(f"i{item}" for item in shown),
                "clicked": "" if clicked is None else f"i{clicked}",
                "time": str(t),
            }
        )
    return rows


@pytest.mark.parametrize("lengths", [(4,), (2, 3, 5)])
def test_it_is_what_one_update_after_another_makes(lengths):
    rows = lists(lengths=lengths)
    model = cc.train(rows, made.shelf(), n_features=4, als=False)
    literal = cc.CohortCascade(n_features=model.features.n_features, seed=0)
    for row in rows:
        shown = row["shown"].split("|")
        click = shown.index(row["clicked"]) if row["clicked"] else None
        places = [model.items.row(item) for item in shown]
        literal.update(row["user"], model.catalog[places], click)
    assert literal.users == model.policy.users
    for name, value in literal.state().items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(model.policy.state()[name], value, err_msg=name)
    assert any("200 lists of 12 users: learned exactly" in line for line in model.said)
    assert model.worth is not None


def test_several_clicks_and_lists_of_a_frame():
    rows = [
        {"user": "ann", "shown": ["a", "b", "c", "d"], "clicked": ["a", "c"]},
        {"user": "bob", "shown": ["d", "b"], "clicked": []},
    ] * 5
    model = cc.train(rows, n_features=2, als=False)
    gram, moment, count = model.policy.statistics("ann")
    assert count == 15  # three of four were examined each time
    vectors = {each: model.catalog.features[model.items.row(each)] for each in "abcd"}
    np.testing.assert_allclose(moment, 5 * (vectors["a"] + vectors["c"]))
    assert model.policy.statistics("bob")[2] == 10


def test_a_click_on_what_was_not_shown_is_named():
    rows = lists(20)
    rows[6]["clicked"] = "i999"
    with pytest.raises(InvalidData, match="column 'clicked', got 'i999' in row 7"):
        cc.train(rows, made.shelf())


def test_rows_without_a_list_are_counted():
    rows = lists(60)
    rows[3]["shown"], rows[3]["clicked"] = "", ""
    rows[4]["user"] = " "
    model = cc.train(rows, made.shelf(), n_features=4, als=False)
    assert any("2 rows without a user, a time or an item" in line for line in model.said)
    with pytest.raises(InvalidData, match="no row with a user and a list"):
        cc.train([row | {"user": ""} for row in lists(5)])


def test_ratings_do_not_go_with_lists():
    with pytest.raises(InvalidArgument, match="at_least must be left out"):
        cc.train(lists(20), at_least=4)


def test_every_policy_with_features_learns_lists():
    model = cc.train(lists(80), made.shelf(), policy="club_cascade", n_features=4, als=False)
    assert isinstance(model.policy, cc.ClubCascade)
    assert len(model.recommend("u1", 3)) == 3
