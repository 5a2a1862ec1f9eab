"""Cost and accuracy of the policies with a link function: the tables of their page in the docs.

Run: ``python benchmarks/glm.py cost``, ``... fresh``, ``... accuracy`` or ``... constant``.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import clubcascade as cc

D, K = 20, 4


def world(n_users, n_items, items="fixed", link="logistic", seed=0):
    return cc.environments.Synthetic(
        n_users=n_users,
        n_clusters=min(5, n_users),
        n_items=n_items,
        n_features=D,
        items=items,
        link=link,
        scale=2.0,
        seed=seed,
    )


def contenders(users):
    kinds = {
        "CLUB": (cc.ClubCascade, cc.ClubCascadeGLM, {"users": users}),
        "one model": (cc.C3UCB, cc.C3UCBGLM, {}),
        "per user": (cc.MultipleLinUCB, cc.MultipleGLM, {}),
    }
    for name, (linear, general, more) in kinds.items():
        yield f"{name}, linear", linear(n_features=D, **({"beta": 1.0} | more))
        for link in ("logistic", "probit"):
            yield f"{name}, {link}", general(n_features=D, link=link, **more)
        yield f"{name}, logistic online", general(n_features=D, solver="online", **more)


def cost():
    """CPU microseconds per round over the last tenth of 100,000 rounds, and bytes of the state."""
    for n_users, n_items in ((40, 200), (200, 1000)):
        env = world(n_users, n_items)
        for name, policy in contenders(range(n_users)):
            cc.simulate(policy.fresh(), env, rounds=50, k=K, seed=1)
            cc.simulate(policy, env, rounds=90_000, k=K, seed=1)
            started = time.process_time()
            cc.simulate(policy, env, rounds=10_000, k=K, seed=2)
            micros = (time.process_time() - started) * 100
            size = sum(np.asarray(part).nbytes for part in policy.state().values()) / 2**20
            print(f"u={n_users} L={n_items} | {name} | {micros:.1f} us | {size:.2f} MiB")


def fresh_cost():
    """CPU microseconds per update and bytes of the state when no item ever comes twice."""
    weights = world(1, 10).weights[0]
    link = cc.links.read_link("logistic")
    for solver in ("exact", "online"):
        rng = np.random.default_rng(1)
        policy = cc.C3UCBGLM(n_features=D, solver=solver)
        policy.fresh().update(0, np.eye(D)[:K], 1)  # compiled
        clock = 0.0
        for t in range(1, 10_001):
            items = rng.standard_normal((50, D))
            items /= np.linalg.norm(items, axis=1, keepdims=True)
            shown = items[policy.recommend(0, items, K)]
            liked = np.flatnonzero(rng.random(K) < link.mu(shown @ weights))
            started = time.process_time()
            policy.update(0, shown, int(liked[0]) if liked.size else None)
            clock += time.process_time() - started
            if t in (10, 100, 1_000, 10_000):
                size = sum(np.asarray(part).nbytes for part in policy.state().values()) / 2**20
                each = clock / (0.9 * t) * 1e6
                print(f"fresh | {solver} | up to {t} | {each:.0f} us | {size:.2f} MiB")
                clock = 0.0


def accuracy():
    """Distance of one-pass weights from the exact ones, and of those from the truth."""
    for items, n_items in (("fixed", 200), ("fresh", 50)):
        for link in ("logistic", "probit"):
            ratios = {}
            for seed in range(5):
                env = world(1, n_items, items, link, seed)
                exact = cc.C3UCBGLM(n_features=D, link=link)
                online = cc.C3UCBGLM(n_features=D, link=link, solver="online")
                env.reset(seed)
                for t in range(1, 5_001):
                    user, offered = env.next_user()
                    ranking = exact.recommend(user, offered, K)
                    feedback = env.respond(user, ranking)
                    for policy in (exact, online):
                        policy.update(user, offered[ranking], feedback)
                    if t in (50, 500, 5_000):
                        weights = exact.cluster_weights(0)
                        off = np.linalg.norm(online.cluster_weights(0) - weights)
                        error = np.linalg.norm(weights - env.weights[0])
                        ratios.setdefault(t, []).append((off, error))
            for t, pairs in ratios.items():
                off, error = np.mean(pairs, axis=0)
                print(f"{items} | {link} | t={t} | off {off:.4f} | error {error:.3f}")


def constant():
    """Regret where items have a constant feature, so that a linear model has an intercept, too."""
    logistic = cc.links.read_link("logistic")
    totals = {}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tastes, _ = np.linalg.qr(rng.standard_normal((D - 1, 5)))
        looks = rng.standard_normal((200, D - 1))
        looks /= np.linalg.norm(looks, axis=1, keepdims=True)
        items = np.hstack([np.full((200, 1), 0.5), np.sqrt(0.75) * looks])
        kind = rng.integers(5, size=40)
        env = cc.environments.Matrix(
            logistic.mu(-3 + 4 * looks @ tastes).T[kind], items, partition=kind
        )
        known = {"known, linear": cc.KnownClusters, "known, logistic": cc.KnownClustersGLM}
        told = {name: each(n_features=D, partition=kind) for name, each in known.items()}
        for name, policy in (dict(contenders(range(40))) | told).items():
            trace = cc.simulate(policy, env, rounds=20_000, k=K, seed=seed)
            totals.setdefault(name, []).append(trace.regret[-1])
    for name, regrets in totals.items():
        print(f"constant | {name} | {np.mean(regrets):.0f}")


if __name__ == "__main__":
    modes = {"cost": cost, "fresh": fresh_cost, "accuracy": accuracy, "constant": constant}
    modes[sys.argv[1]]()
