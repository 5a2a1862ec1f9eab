"""CLUB-cascade with generalized linear models: one per component, an estimate per user.

Line numbers are those of Algorithm 1 of the paper, in the modified version of its section on
generalized linear rewards.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import (
    edge_deletion,
    glm,
    likelihood,
    linear,
    links,
    newton,
    online_newton,
    ranking,
    samples,
)
from clubcascade.kernels import graph as users
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)


@struct
class GLMClub(Struct):
    """The whole state.

    ``ridge`` and ``fit`` have one model per label of ``graph`` and share its weights; ``own`` has
    one estimate per user, whose weights are ``weights``. Per user also ``count``, ``radius``,
    ``by_feature`` and ``by_user`` (as in :mod:`clubcascade.kernels.club`, with ``largest_norm`` and
    ``smallest_radius``; ``by_user`` has no rows here: neighbours in sparse graphs are compared
    exactly), and, where no samples are kept, ``gram`` and ``moment``. The rest is scratch.
    """

    ridge: models.Ridge
    fit: likelihood.Likelihood
    own: likelihood.Likelihood
    store: samples.DistinctItems
    link: links.CompiledLink
    graph: users.Graph
    weights: Floats
    count: Ints
    gram: Floats
    moment: Floats
    radius: Floats
    by_feature: Any
    by_user: Any
    largest_norm: Floats
    smallest_radius: Floats
    alpha: float
    beta: float
    n_clusters: int
    neighbours: Ints
    deleted: Ints
    distance_work: Any
    weights_work: Any
    flags: Words


@kernel
def _observe(state: GLMClub, node: int, x: Floats, y: float) -> None:
    """Add to the user's sums, where no samples are kept to compute them from."""
    if not state.own.keeps_samples:
        linear.add_outer(state.gram[node], 1.0, x)
        for f in range(x.shape[0]):
            state.moment[node, f] += y * x[f]


@kernel
def pool(source: Any, which: Any, ridge: Any, fit: Any, g: int, store: Any, link: Any) -> None:
    """Make model ``g`` the one of all samples of the estimates ``which``; its sums may be ready."""
    if fit.keeps_samples:
        samples.gather(source.counts, which, store.n_items, fit.counts, g)
        glm.recount(ridge, g, fit, store)
        newton.solve(fit, g, store.items, link, 1)
    else:
        online_newton.sum_statistics(source, which, fit, g)
        online_newton.solve_weights(fit, g)
    glm.renew_inverse(ridge, g)
    ridge.version[g] += 1


@kernel
def _rebuild_model(state: GLMClub, g: int, members: Any, start: Any) -> None:
    """Line 5 for one component, computed anew; the solver starts at ``start``."""
    ridge = state.ridge
    models.clear(ridge, g)
    for e in range(members.shape[0]):
        ridge.count[g] += state.count[members[e]]
        if not state.own.keeps_samples:
            node = members[e]
            models.add(ridge, g, state.gram[node], state.moment[node], 0, 1.0)
    for f in range(start.shape[0]):
        ridge.weights[g, f] = start[f]
    pool(state.own, members, ridge, state.fit, g, state.store, state.link)


@kernel
def _split(state: GLMClub, pieces: int) -> None:
    """Give every component that a cut split off, and the rest, a model computed anew."""
    graph = state.graph
    whole = graph.piece[0, 2]
    start = state.ridge.weights[whole].copy()
    rest = users.component(graph, graph.anchor)
    first = 0
    for p in range(pieces + 1):
        if p < pieces:
            label, members = graph.piece[p, 0], graph.moved[first : graph.piece[p, 1]]
        else:
            label, members = whole, graph.queue_a[:rest]
        _rebuild_model(state, label, members, start)
        first += members.shape[0]
    state.n_clusters += pieces


@kernel
def _delete_edges(state: Any, node: int) -> None:
    """Line 10: delete the edges (i, l) with ``|w_i - w_l| >= alpha (radius_i + radius_l)``."""
    pieces = edge_deletion.delete_far_edges(state, node)
    if pieces > 0:
        _split(state, pieces)


@kernel
def merge(state: GLMClub, home: int, labels: Any) -> None:
    """Make the model of ``home`` the one of all ``labels``, itself among them."""
    ridge = state.ridge
    for e in range(labels.shape[0]):
        g = labels[e]
        if g != home:
            models.add(ridge, home, ridge.gram[g], ridge.moment[g], ridge.count[g], 1.0)
    pool(state.fit, labels, ridge, state.fit, home, state.store, state.link)
    for e in range(labels.shape[0]):
        if labels[e] != home:
            state.fit.counts.size[labels[e]] = 0


@kernel
def pool_new_user(state: GLMClub, labels: Any, ridge: Any, fit: Any) -> None:
    """Make model 0 of ``ridge`` and ``fit``, for a new user, the one of all ``labels``."""
    for e in range(labels.shape[0]):
        g = labels[e]
        models.add(ridge, 0, state.ridge.gram[g], state.ridge.moment[g], state.ridge.count[g], 1.0)
    pool(state.fit, labels, ridge, fit, 0, state.store, state.link)


@kernel
def refresh_weights(state: Any, nodes: Any) -> None:
    """Update the weights of users who were isolated until a new user linked with them."""
    for e in range(nodes.shape[0]):
        node = nodes[e]
        if state.count[node] > 0 and state.graph.degree[node] == 1:
            if state.own.keeps_samples:
                newton.solve(state.own, node, state.store.items, state.link, 1)
            edge_deletion.publish(state, node)


@implements(rank_catalog, GLMClub)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    rank_lazily(state.ridge, state.graph.label[node], state.beta, catalog, rows, scores)


@implements(rank_items, GLMClub)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    weights, inverse = state.ridge.weights[g], state.ridge.inverse[g]
    ranking.rank_fully(weights, inverse, state.beta, features, offered, rows, scores)


@implements(expect_click, GLMClub)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    z = linear.dot(state.ridge.weights[state.graph.label[node]], features[row])
    return links.at(state.link, z)[0]


@implements(learn, GLMClub)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    own, store, link = state.own, state.store, state.link
    linked = state.graph.degree[node] > 0
    if state.count[node] == 0:
        likelihood.clear(own, node)
    glm.learn_estimate(own, node, store, link, features, rows, rewards, examined, int(linked))
    for p in range(examined):
        _observe(state, node, features[rows[p]], rewards[p])
    state.count[node] += examined
    state.radius[node] = edge_deletion.radius_of(state.count[node], False)
    g = state.graph.label[node]
    glm.learn_model(state.ridge, state.fit, g, store, link, features, rows, rewards, examined)
    if linked:
        edge_deletion.publish(state, node)
        _delete_edges(state, node)


@implements(count_clusters, GLMClub)
def _count_clusters(state: Any) -> Any:
    return state.n_clusters
