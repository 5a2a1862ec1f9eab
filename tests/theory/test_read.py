"""Arguments outside their range are named, with the range and what was got."""

from __future__ import annotations

import math

import pytest

from clubcascade import theory
from clubcascade.errors import InvalidArgument
from tests.theory.settings import GLM, SETTING, changed

BAD = [
    (theory.beta, dict(n_features=0, horizon=10, n_clusters=1, reg=1.0), "n_features"),
    (theory.beta, dict(n_features=2, horizon=0, n_clusters=1, reg=1.0), "horizon"),
    (theory.beta, dict(n_features=2, horizon=10.0, n_clusters=1, reg=1.0), "horizon"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=0, reg=1.0), "n_clusters"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=1, reg=0.0), "reg"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=1, reg=math.nan), "reg"),
    (theory.alpha, dict(n_features=2, item_eigenvalue=0.0), "item_eigenvalue"),
    (theory.alpha, dict(n_features=2, item_eigenvalue=1.5), "item_eigenvalue"),
    (theory.alpha, dict(n_features=True, item_eigenvalue=0.5), "n_features"),
    (theory.confidence_radius, dict(n_features=2, count=-1, reg=1.0, delta=0.1), "count"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=0.0), "delta"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=2.0), "delta"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=0.1, noise=-1), "noise"),
    (
        theory.beta_glm,
        dict(n_features=2, horizon=1, n_clusters=1, item_eigenvalue=0.5, slope=0.1),
        "horizon",
    ),
    (theory.regret_bound, changed(SETTING, gap=0.0), "gap"),
    (theory.regret_bound, changed(SETTING, gap=2.1), "gap"),
    (theory.regret_bound, changed(SETTING, reg=3.9), "reg"),
    (theory.regret_bound, changed(SETTING, n_clusters=41), "n_clusters"),
    (theory.regret_bound, changed(SETTING, n_users=0), "n_users"),
    (theory.regret_bound, changed(SETTING, k=0), "k"),
    (theory.regret_bound_one_cluster, dict(n_features=2, k=4, horizon=10, reg=3.0), "reg"),
    (theory.regret_bound_one_cluster, dict(n_features=2, k=0, horizon=10), "k"),
    (
        theory.regret_bound_known_clusters,
        dict(n_features=2, cluster_rounds=[], k=1, reg=1.0),
        "cluster_rounds",
    ),
    (
        theory.regret_bound_known_clusters,
        dict(n_features=2, cluster_rounds=[5, -1], k=1, reg=1.0),
        "cluster_rounds",
    ),
    (theory.regret_bound_glm, changed(GLM, horizon=19), "horizon"),
    (theory.regret_bound_glm, changed(GLM, slope=0.0), "slope"),
    (theory.regret_bound_glm, changed(GLM, lipschitz=0.05), "lipschitz"),
    (theory.alpha_glm, dict(n_features=2, item_eigenvalue=0.5, slope=-1.0), "slope"),
    (
        theory.edge_probability,
        dict(n_users=5, n_clusters=2, smallest_share=0.0, delta=0.1),
        "smallest_share",
    ),
    (theory.edge_probability, dict(n_users=5, n_clusters=6, smallest_share=1, delta=0.1), "n_clu"),
]


@pytest.mark.parametrize("function, arguments, name", BAD)
def test_bad_arguments_are_named(function, arguments, name):
    with pytest.raises(InvalidArgument, match=f"{name}.*must be .*got"):
        function(**arguments)
