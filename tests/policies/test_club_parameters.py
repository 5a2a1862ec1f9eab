"""The parameters of CLUB-cascade: refused at once, or taken from the theorem."""

import pytest

import clubcascade as cc


def test_policies_are_validated_at_once():
    for changes, words in (
        ({"alpha": -1.0}, r"alpha must be a number in \[0, inf\], got -1.0"),
        ({"alpha": float("nan")}, "alpha"),
        ({"beta": float("inf")}, "beta"),
        ({"beta": "much"}, "beta"),
        ({"reg": 0.0}, r"reg must be a number in \[1e-06, 1e\+09\], got 0.0"),
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"n_features": 2.5}, "n_features"),
        ({"start": "star"}, "start must be one of"),
        ({"variant": "code2016"}, "variant"),
        ({"start": "random"}, "edge_probability"),
        ({"edge_probability": 0.5}, "complete"),
        ({"start": "random", "edge_probability": 1.5}, "edge_probability"),
        ({"users": [1, 1]}, "distinct"),
        ({"alpha": 1.0, "item_eigenvalue": 0.1}, "alpha must be left out"),
        ({"beta": 1.0, "horizon": 10, "n_clusters": 2}, "beta must be left out"),
        ({"horizon": 10}, "n_clusters"),
        ({"seed": -1}, "seed"),
    ):
        with pytest.raises(cc.errors.InvalidArgument, match=words):
            cc.ClubCascade(**({"n_features": 3} | changes))


def test_constants_of_the_theorem():
    policy = cc.ClubCascade(
        n_features=20, horizon=10_000, n_clusters=5, item_eigenvalue=0.05, users=range(40)
    )
    assert policy.beta == pytest.approx(cc.theory.beta(20, 10_000, 5, 4.0))
    assert policy.alpha == pytest.approx(cc.theory.alpha(20, 0.05))
    assert policy.fresh().params == policy.params
    sparse = cc.ClubCascade(
        n_features=20, users=range(400), start="random", n_clusters=2, smallest_share=0.9
    )
    assert sparse.edge_probability == pytest.approx(cc.theory.edge_probability(400, 2, 0.9, 0.1))
