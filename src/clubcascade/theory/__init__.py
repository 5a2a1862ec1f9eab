"""The theory of the paper: the constants of its theorems, and what they promise.

Everything here is worked out on paper beforehand; no policy learns from it. Symbols of the paper:
``n_features`` is d, ``horizon`` T, ``n_clusters`` m, ``n_users`` u, ``k`` K, ``reg`` lambda,
``gap`` gamma, ``item_eigenvalue`` lambda_x, ``slope`` c_mu and ``lipschitz`` kappa_mu.

The constants are made for proofs, and they are large: with them hardly an edge is cut, and hardly
a bound lies below the number of rounds, before millions of rounds have passed.

References
----------
S. Li, "Online Clustering of Contextual Cascading Bandits", AAAI 2018. Theorem, corollary, lemma
and appendix numbers are of this paper.
"""

from clubcascade.theory.bounds import (
    RegretBound,
    regret_bound,
    regret_bound_known_clusters,
    regret_bound_one_cluster,
)
from clubcascade.theory.clustering import edge_probability, exploration_rounds
from clubcascade.theory.constants import alpha, beta, confidence_radius, item_eigenvalue
from clubcascade.theory.generalized import alpha_glm, beta_glm, regret_bound_glm

__all__ = [
    "RegretBound",
    "alpha",
    "alpha_glm",
    "beta",
    "beta_glm",
    "confidence_radius",
    "edge_probability",
    "exploration_rounds",
    "item_eigenvalue",
    "regret_bound",
    "regret_bound_glm",
    "regret_bound_known_clusters",
    "regret_bound_one_cluster",
]
