"""Time what one would pick instead, on the same draws: ``python -m benchmarks.peers``.

Every round a user comes, the learner ranks the whole catalogue, shows the best four, and learns
from the click. Each peer gets the nearest thing that it offers to linear UCB over item features
with one model per user; none of them clusters users. Only ranking and learning are on the clock.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

import clubcascade as cc
from benchmarks.engine.machine import machine
from benchmarks.engine.process import ONE_THREAD

K, D, REG, BETA = 4, 20, 4.0, 1.0


class Peer:
    """Ranks for a user and learns; ``items`` is the fixed matrix of features."""

    package = ""
    what = ""
    learns = "every examined item"
    slow = False

    def __init__(self, items: np.ndarray, n_users: int) -> None:
        self.items, self.models = items, [self.model() for _ in range(n_users)]

    def model(self) -> Any:
        """Return a new model of one user."""
        raise NotImplementedError

    def bounds(self, model: Any) -> np.ndarray:
        """Return the score of every item."""
        raise NotImplementedError

    def learn(self, model: Any, rows: np.ndarray, rewards: np.ndarray) -> None:
        """Learn from the examined rows."""
        raise NotImplementedError

    def recommend(self, user: int) -> np.ndarray:
        return np.argsort(-self.bounds(self.models[user]), kind="stable")[:K]

    def update(self, user: int, ranking: np.ndarray, click: int | None) -> None:
        examined = K if click is None else click + 1
        rewards = np.zeros(examined)
        if click is not None:
            rewards[click] = 1.0
        self.learn(self.models[user], ranking[:examined], rewards)


class Own(Peer):
    """Our package, called from Python like the others."""

    package = "clubcascade"

    def __init__(self, items: np.ndarray, n_users: int) -> None:
        self.catalog = cc.Catalog(items)
        self.policy: Any = self.make(n_users)

    def make(self, n_users: int) -> cc.Policy:
        raise NotImplementedError

    def recommend(self, user: int) -> np.ndarray:
        return self.policy.recommend(user, self.catalog, K)

    def update(self, user: int, ranking: np.ndarray, click: int | None) -> None:
        self.policy.update(user, self.catalog[ranking], click)


class OwnClub(Own):
    what = "`ClubCascade`: learns who is alike"

    def make(self, n_users: int) -> cc.Policy:
        return cc.ClubCascade(n_features=D, users=range(n_users), alpha=2.0, beta=BETA, reg=REG)


class OwnPerUser(Own):
    what = "`MultipleLinUCB`: a model per user"

    def make(self, n_users: int) -> cc.Policy:
        return cc.MultipleLinUCB(n_features=D, beta=BETA, reg=REG)


class ContextualBandits(Peer):
    package = "contextualbandits"
    what = "`linreg.LinearRegression.predict_ucb`, a model per user"

    def model(self) -> Any:
        linreg = import_module("contextualbandits.linreg")
        model = linreg.LinearRegression(
            lambda_=REG, fit_intercept=False, method="sm", use_float=False
        )
        return model.fit(np.zeros((1, D)), np.zeros(1))

    def bounds(self, model: Any) -> np.ndarray:
        return model.predict_ucb(self.items, alpha=BETA)

    def learn(self, model: Any, rows: np.ndarray, rewards: np.ndarray) -> None:
        model.partial_fit(self.items[rows], rewards)


class MabWiser(Peer):
    package = "mabwiser"
    what = "`LearningPolicy.LinUCB`, one arm, items as contexts, a bandit per user"

    def model(self) -> Any:
        mab = import_module("mabwiser.mab")
        # its l2_lambda is 1 because its starting inverse is right only there
        policy = mab.LearningPolicy.LinUCB(alpha=BETA, l2_lambda=1.0)
        bandit = mab.MAB(arms=["click"], learning_policy=policy)
        bandit.fit(["click"], [0], np.zeros((1, D)))
        return bandit

    def bounds(self, model: Any) -> np.ndarray:
        return np.array([each["click"] for each in model.predict_expectations(self.items)])

    def learn(self, model: Any, rows: np.ndarray, rewards: np.ndarray) -> None:
        model.partial_fit(["click"] * len(rows), rewards, self.items[rows])


class River(Peer):
    package = "river"
    what = "`BayesianLinearRegression`, item by item, a model per user"
    slow = True

    def __init__(self, items: np.ndarray, n_users: int) -> None:
        super().__init__(items, n_users)
        self.rows = [dict(enumerate(item)) for item in items.tolist()]

    def model(self) -> Any:
        return import_module("river.linear_model").BayesianLinearRegression(alpha=REG, beta=1.0)

    def bounds(self, model: Any) -> np.ndarray:
        found = [model.predict_one(row, with_dist=True) for row in self.rows]
        return np.array([each.mu + BETA * each.sigma for each in found])

    def learn(self, model: Any, rows: np.ndarray, rewards: np.ndarray) -> None:
        for row, reward in zip(rows, rewards, strict=True):
            model.learn_one(self.rows[row], float(reward))


class VowpalWabbit(Peer):
    package = "vowpalwabbit"
    what = "`--cb_explore_adf --squarecb`, user crossed with item features"
    learns = "one item a round: the clicked one, or the first"
    slow = True

    def __init__(self, items: np.ndarray, n_users: int) -> None:
        vw = import_module("vowpalwabbit")
        self.space = vw.Workspace("--cb_explore_adf --squarecb -q ui --quiet")
        self.lines = [
            "|i " + " ".join(f"{f}:{value:.6g}" for f, value in enumerate(item))
            for item in items.tolist()
        ]
        self.chances: dict[int, float] = {}

    def recommend(self, user: int) -> np.ndarray:
        chances = np.array(self.space.predict([f"shared |u user{user}", *self.lines]))
        ranking = np.argsort(-chances, kind="stable")[:K]
        self.chances = {int(row): float(chances[row]) for row in ranking}
        return ranking

    def update(self, user: int, ranking: np.ndarray, click: int | None) -> None:
        row = int(ranking[click or 0])
        cost = 0.0 if click is None else -1.0
        lines = list(self.lines)
        lines[row] = f"0:{cost}:{max(self.chances[row], 1e-3):.6g} {lines[row]}"
        self.space.learn([f"shared |u user{user}", *lines])


PEERS: tuple[type[Peer], ...] = (
    OwnClub,
    OwnPerUser,
    ContextualBandits,
    MabWiser,
    River,
    VowpalWabbit,
)


def play(learner: Peer, env: cc.environments.Synthetic, rounds: int) -> tuple[float, float]:
    """Return the seconds of ranking and learning, and the regret a round."""
    env.reset(7)
    seconds = regret = 0.0
    for _ in range(rounds):
        user, _ = env.next_user()
        started = time.perf_counter()
        ranking = learner.recommend(user)
        seconds += time.perf_counter() - started
        clicks = env.respond(user, ranking).clicks
        started = time.perf_counter()
        learner.update(user, ranking, clicks[0] if clicks else None)
        seconds += time.perf_counter() - started
        regret += env.regret(user, ranking)
    return seconds / rounds, regret / rounds


def row(kind: type[Peer], n_users: int, n_items: int, rounds: int) -> list[str]:
    """Measure one peer at one size; a peer that cannot be imported says so."""
    env = cc.environments.Synthetic(
        n_users=n_users, n_clusters=5, n_items=n_items, n_features=D, seed=1
    )
    items = np.array(env.catalog.features)
    try:
        learner = kind(items, n_users)
        play(learner, env, 5)  # compiled, and met once
        learner = kind(items, n_users)
        seconds, regret = play(learner, env, rounds)
        name = f"{kind.package} {version(kind.package)}"
    except ImportError as error:
        return [kind.package, kind.what, f"{n_users}, {n_items}", f"not there: {error}", "", "", ""]
    numbers = [f"{1e6 * seconds:,.0f}", f"{regret:.3f}", f"{rounds:,}", kind.learns]
    return [name, kind.what, f"{n_users}, {n_items}", *numbers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5_000, help="rounds of the quick ones")
    parser.add_argument("--slow-rounds", type=int, default=500, help="rounds of the slow ones")
    parser.add_argument("--sizes", default="40x200,200x1000,900x1000")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    heads = ("package", "what", "u, L", "µs a round", "regret a round", "rounds", "learns from")
    print(f"{machine()['processor']}, one core, K={K}, d={D}\n")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for size in options.sizes.split(","):
        n_users, n_items = map(int, size.split("x"))
        for kind in PEERS:
            rounds = options.slow_rounds if kind.slow else options.rounds
            print("| " + " | ".join(row(kind, n_users, n_items, rounds)) + " |", flush=True)


if __name__ == "__main__":
    if ONE_THREAD.items() <= os.environ.items():
        main()
    else:
        again = [sys.executable, "-m", "benchmarks.peers", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **ONE_THREAD})
