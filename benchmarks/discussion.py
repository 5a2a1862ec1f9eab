"""The tables of docs/explain/discussion.md that no experiment file makes.

Run as ``python benchmarks/discussion.py start`` (or ``share``, ``restart``, ``activity``,
``last-click``, ``discounts``, ``known``); every table is printed as Markdown. Means of several
seeds, with the half-width of a 95% interval of Student's t.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import clubcascade as cc
from clubcascade.environments import Synthetic
from clubcascade.graph import ErdosRenyi

SEEDS = range(10)
WORLD = {"n_clusters": 5, "n_items": 200, "n_features": 20}
K = 4


def interval(values: Iterable[float], digits: int = 0) -> str:
    """Mean and half-width of a 95% interval."""
    found = np.array(list(values), dtype=float)
    half = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    return f"{found.mean():,.{digits}f} ± {half:,.{digits}f}"


def table(head: list[str], rows: Iterable[list[Any]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print()


# -- random sparse starts --------------------------------------------------------------------------


def in_pieces(cluster: np.ndarray, p: float, key: int) -> bool:
    """Tell whether some true cluster of a random start does not hang together."""
    start, n = ErdosRenyi(p, key), len(cluster)
    pairs = [(i, j) for i in range(n) for j in start.links(i) if cluster[i] == cluster[j]]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = csr_array((np.ones(len(left)), (left, right)), shape=(n, n))
    return connected_components(graph, directed=False)[0] > len(set(cluster))


def broken(cluster: np.ndarray, p: float, draws: int = 400) -> str:
    """Return how often a true cluster starts in pieces."""
    return f"{sum(in_pieces(cluster, min(1.0, p), key) for key in range(draws)) / draws:.0%}"


def start() -> None:
    m = 5
    parts = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
    rows = []
    for n_users in (100, 200, 500, 1000):
        formula = cc.theory.edge_probability(n_users, m, smallest_share=1.0, delta=0.1)
        cluster = np.arange(n_users) % m
        each = [broken(cluster, part * formula) for part in parts]
        rows.append([n_users, f"{formula:.3f}", *each])
    table(["users", "p of the formula", *(f"{part:g} p" for part in parts)], rows)

    rows = []
    n_users, rounds = 100, 60_000
    formula = cc.theory.edge_probability(n_users, m, smallest_share=0.6, delta=0.1)
    for p in (1.0, formula, 0.2, 0.1, 0.05, 0.02):
        runs = []
        for seed in SEEDS:
            env = Synthetic(n_users=n_users, items="fresh", seed=seed, **WORLD)
            policy = cc.ClubCascade(
                n_features=20,
                users=range(n_users),
                alpha=3.0,
                start="random",
                edge_probability=p,
                seed=seed,
            )
            begun = len(policy.clusters())
            trace = cc.simulate(policy, env, rounds, K, seed, every=rounds // 100)
            right = np.flatnonzero(trace.rand_index > 0.9)
            runs.append(
                (begun, trace.round[right[0]] if right.size else np.nan, trace.regret[-1])
                + (trace.n_clusters[-1], trace.rand_index[-1])
            )
        begun, first, regret, clusters, index = np.array(runs).T
        reached = f"{np.nanmedian(first):,.0f}" if (~np.isnan(first)).any() else "-"
        reached += f" ({int((~np.isnan(first)).sum())} of {len(first)})"
        rows.append(
            [f"{p:.3f}", interval(begun, 1), reached, interval(regret), interval(clusters, 1)]
            + [interval(index, 2)]
        )
    head = ["p", "components at the start", "rounds until Rand index 0.9 (median)", "regret"]
    table([*head, "clusters at the end", "Rand index at the end"], rows)


def share() -> None:
    """One cluster of 5 is smaller than the others: the formula told of it, and not told."""
    n_users, m = 200, 5
    rows = []
    for smallest in (1.0, 0.5, 0.25, 0.1):
        few = int(smallest * n_users / m)
        cluster = np.concatenate([np.zeros(few), 1 + np.arange(n_users - few) % (m - 1)])
        told, not_told = (
            cc.theory.edge_probability(n_users, m, smallest_share=each, delta=0.1)
            for each in (smallest, 1.0)
        )
        found = [broken(cluster, p) for p in (told, not_told)]
        rows.append([few, smallest, f"{told:.3f}", *found])
    head = ["users in the smallest cluster", "smallest_share", "p", "in pieces"]
    table([*head, f"in pieces with p of smallest_share 1 ({not_told:.3f})"], rows)


# -- gap relaxation --------------------------------------------------------------------------------


def restart() -> None:
    rounds = 40_000
    half, rows = rounds // 2, []
    kinds: dict[str, list[float]] = {"alpha 8": [], "relax": [], "restart": [], "alpha 3": []}
    for seed in SEEDS:
        env = Synthetic(n_users=40, items="fresh", seed=seed, **WORLD)

        def policy(alpha: float) -> cc.ClubCascade:
            return cc.ClubCascade(n_features=20, users=range(40), alpha=alpha)

        def regret(one: cc.Policy, env: Any = env, seed: int = seed) -> float:
            return float(cc.simulate(one, env, rounds, K, seed, every=rounds).regret[-1])

        kinds["alpha 8"].append(regret(policy(8.0)))
        kinds["relax"].append(regret(cc.AlphaSchedule(policy(8.0), steps=[(half, 3.0)])))
        kinds["alpha 3"].append(regret(policy(3.0)))
        first, second = Handover(policy(8.0), policy(3.0), half), 0.0
        second = regret(first)  # type: ignore[arg-type]
        kinds["restart"].append(second)
    labels = {
        "alpha 8": "alpha 8 throughout",
        "relax": f"alpha 8, relaxed to 3 after {half:,} rounds",
        "restart": f"alpha 8, started anew with 3 after {half:,} rounds",
        "alpha 3": "alpha 3 throughout",
    }
    rows = [[labels[name], interval(values)] for name, values in kinds.items()]
    table(["", f"regret after {rounds:,} rounds"], rows)


class Handover(cc.Policy):
    """One policy serves the first rounds, another one, which has learned nothing, the rest."""

    def __init__(self, first: cc.Policy, second: cc.Policy, rounds: int) -> None:
        self.now, self.next, self.left = first, second, rounds
        self.n_features = first.n_features

    def recommend(self, user: Any, items: Any, k: int) -> Any:
        return self.now.recommend(user, items, k)

    def update(self, user: Any, shown: Any, click: Any) -> None:
        self.now.update(user, shown, click)
        self.left -= 1
        if self.left == 0:
            self.now = self.next

    def state(self) -> dict[str, Any]:
        return self.now.state()

    def load_state(self, state: dict[str, Any]) -> None:
        self.now.load_state(state)

    @classmethod
    def examples(cls) -> Any:
        yield from ()


# -- unequal activity ------------------------------------------------------------------------------


def activity() -> None:
    n_users, rounds = 400, 40_000
    groups = {"1-40": range(40), "41-200": range(40, 200), "201-400": range(200, 400)}
    found: dict[str, dict[str, list[float]]] = {}
    visits: dict[str, list[float]] = {name: [] for name in groups}
    for seed in range(5):
        env = Synthetic(n_users=n_users, items="fresh", arrivals="zipf", seed=seed, **WORLD)
        policies = {
            "C3-UCB": cc.C3UCB(n_features=20, beta=1.0),
            "one model per user": cc.MultipleLinUCB(n_features=20),
            "CLUB-cascade, alpha 1": cc.ClubCascade(n_features=20, users=range(400), alpha=1.0),
            "CLUB-cascade, alpha 2": cc.ClubCascade(n_features=20, users=range(400), alpha=2.0),
            "known clusters": cc.KnownClusters(n_features=20, partition=env.partition),
        }
        for name, policy in policies.items():
            lost, came = np.zeros(n_users), np.zeros(n_users)
            env.reset(seed)
            for _ in range(rounds):
                user, items = env.next_user()
                ranking = policy.recommend(user, items, K)
                lost[user] += env.regret(user, ranking)
                came[user] += 1
                policy.update(user, items[ranking], env.respond(user, ranking))
            for group, users in groups.items():
                part = list(users)
                value = lost[part].sum() / came[part].sum()
                found.setdefault(name, {}).setdefault(group, []).append(value)
                if name == "C3-UCB":
                    visits[group].append(float(np.median(came[part])))
    head = ["regret per visit", *(f"users {g}" for g in groups)]
    rows = [["visits of the median user", *(interval(visits[group], 0) for group in groups)]]
    for name, values in found.items():
        rows.append([name, *(interval(values[group], 3) for group in groups)])
    table(head, rows)


# -- several clicks --------------------------------------------------------------------------------


class FirstClick(cc.C3UCB):
    """C3-UCB that learns of a list up to its first click only."""

    def update(self, user: Any, shown: Any, click: Any) -> None:
        first = click.clicks[0] if click.clicks else None
        super().update(user, shown, cc.Feedback.from_click(first, len(shown)))


def last_click() -> None:
    rounds, rows = 20_000, []
    for stop in ([1.0], [0.7], [0.5], [0.3], [0.9, 0.6, 0.3, 0.1]):
        cells: dict[str, list[tuple[float, float]]] = {"last": [], "first": []}
        for seed in SEEDS:
            env = Synthetic(
                n_users=40, n_items=200, n_features=20, n_clusters=1, seed=seed,
                click=cc.click.DCM(stop),
            )  # fmt: skip
            for name, kind in (("last", cc.C3UCB), ("first", FirstClick)):
                policy = kind(n_features=20, beta=1.0)
                trace = cc.simulate(policy, env, rounds, K, seed, every=rounds)
                believed = env.catalog.features @ policy.cluster_weights(0)
                shown = policy.recommend(0, env.catalog, K)
                over = float(np.mean(believed[shown] - env.attraction[0, shown]))
                cells[name].append((float(trace.regret[-1]), over))
        row: list[Any] = [", ".join(f"{each:g}" for each in stop)]
        for name in ("last", "first"):
            regret, over = zip(*cells[name], strict=True)
            row += [interval(regret), interval(over, 3)]
        rows.append(row)
    head = ["stop", "regret, last click", "too high by", "regret, first click", "too high by"]
    table(head, rows)


# -- position discounts ----------------------------------------------------------------------------


def discounts() -> None:
    rounds, rows = 20_000, []
    for gammas in ([1.0, 0.9, 0.81, 0.73], [1.0, 0.7, 0.5, 0.3], [1.0, 0.3, 0.1, 0.03]):
        cells: dict[str, list[float]] = {"discounts": [], "none": []}
        for seed in SEEDS:
            env = Synthetic(
                n_users=40, n_items=200, n_features=20, n_clusters=1, seed=seed,
                click=cc.click.Cascade(discounts=gammas),
            )  # fmt: skip
            for name, given in (("discounts", gammas), ("none", None)):
                policy = cc.C3UCB(n_features=20, beta=1.0, discounts=given)
                trace = cc.simulate(policy, env, rounds, K, seed, every=rounds)
                cells[name].append(float(trace.regret[-1]))
        shown = ", ".join(f"{gamma:g}" for gamma in gammas)
        rows.append([shown, interval(cells["discounts"]), interval(cells["none"])])
    table(["discounts of the world", "regret, C3-UCB with them", "regret, C3-UCB without"], rows)


# -- known clusters --------------------------------------------------------------------------------


def known() -> None:
    rounds, rows = 60_000, []
    for sizes in ([1, 1, 1, 1, 1], [16, 1, 1, 1, 1], [96, 1, 1, 1, 1]):
        regrets, bounds, roots = [], [], []
        for seed in SEEDS:
            env = Synthetic(n_users=200, seed=seed, cluster_sizes=sizes, **WORLD)
            policy = cc.KnownClusters(n_features=20, partition=env.partition)
            regrets.append(cc.simulate(policy, env, rounds, K, seed, every=rounds).regret[-1])
            visits = np.bincount(env.partition, minlength=5) * rounds // 200
            bound = cc.theory.regret_bound_known_clusters(20, visits.tolist(), k=K, reg=4.0)
            bounds.append(bound.total)
            roots.append(np.sqrt(visits).sum() / np.sqrt(rounds))
        shown = ":".join(str(size) for size in sizes)
        rows.append([shown, interval(roots, 2), interval(regrets), interval(bounds)])
    table(["cluster sizes", "sum of sqrt(T_j) / sqrt(T)", "regret", "bound of the theory"], rows)


TABLES: dict[str, Callable[[], None]] = {
    "start": start,
    "share": share,
    "restart": restart,
    "activity": activity,
    "last-click": last_click,
    "discounts": discounts,
    "known": known,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or TABLES:
        print(f"## {chosen}\n")
        TABLES[chosen]()
