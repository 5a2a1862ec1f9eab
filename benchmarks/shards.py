"""The sharded design, simulated: users by hash over several shards, cohorts exchanged in epochs.

``python -m benchmarks.shards`` prints the tables and writes ``docs/img/shards.svg``.

Protocol, written before the first run
--------------------------------------
*Question.* What do lists lose if the shards know each other's cohorts only as of the last epoch?

*Design.* Each shard is a ``CohortCascade`` of its own, with its own log, and serves the users whose
hash falls to it. At the end of an epoch every shard tells all others, for each of its cohorts, the
sums over its own users: Gram matrix, moment, count. The receiver holds a remote cohort as one user
more, who never asks for a list: its sums replace those of the epoch before, and it is assigned to
a local cohort by the same posterior as everybody. So no labels have to agree between shards, and a
split or a merger on one shard needs nothing of the others.

*World.* 400 users in 10 clusters (random weights, d = 10), 200 fixed items, lists of 4, 40,000
lists in all; a fifth of the users come only in the second half. Clocks are simulated: at 100 lists
a second in all shards together, epochs of 1 s, 10 s, 1 min, 10 min are 100, 1,000, 6,000 and
60,000 lists; the last one is longer than the run, so nothing is exchanged at all. At another rate,
read the lists, not the seconds. Three seeds; every seed has the same users and items everywhere.

*Measures.* Expected regret in clicks (no noise of clicks in it), against one process with all
users: of all lists, and of the first 5 lists of the users of the second half. Bytes sent by all
shards, as float64 triangles. A lost shard: half-way shard 0 is gone for good, and its users are
spread by hash over the others; (a) they start anew there, (b) their sums are rebuilt from the log.
The regret of those users over the second half. Placement of newcomers: by hash, against all on the
shard that has most users now (which is what a balancer without a rule might do).

*Nothing is chosen after a look*: all cells are printed.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import clubcascade as cc
from clubcascade.kernels import bulk, cohort_models

matplotlib.use("svg")
from matplotlib import pyplot as plt

USERS, CLUSTERS, ITEMS, D, K = 400, 10, 200, 10, 4
RATE = 100
EPOCHS = {"1 s": 100, "10 s": 1_000, "1 min": 6_000, "10 min": 60_000}
SHARDS = (2, 4, 16)
FIRST = 5
"""Lists of a newcomer that count as its first ones."""


class Shard:
    """A ``CohortCascade``, and the cohorts of other shards as users of it."""

    def __init__(self, seed: int) -> None:
        self.policy = cc.CohortCascade(n_features=D, memory=0, seed=seed)
        self.remote: dict[tuple[int, int], int] = {}

    def cohorts(self) -> dict[int, tuple[Any, Any, int]]:
        """Return the sums of the own users of each cohort; 0 has those without one."""
        a, n = self.policy._cohorts.arrays, len(self.policy.users)
        own = np.setdiff1d(np.arange(n), list(self.remote.values()))
        label = a["label"][own]
        return {
            int(g): tuple(
                a[name][own[label == g]].sum(axis=0) for name in ("gram", "moment", "count")
            )
            for g in np.unique(label)
        }

    def receive(self, sender: int, cohorts: dict[int, tuple[Any, Any, int]]) -> None:
        """Replace what is known of another shard's cohorts, and assign them anew."""
        policy, changed = self.policy, []
        gone = [key for key in self.remote if key[0] == sender and key[1] not in cohorts]
        empty = np.zeros((D, D)), np.zeros(D), 0
        for key, sums in [*((key, empty) for key in gone), *cohorts.items()]:
            key = key if isinstance(key, tuple) else (sender, key)
            if key not in self.remote:
                self.remote[key] = policy._join(f"shard {key[0]}, cohort {key[1]}")
            node, learner = self.remote[key], policy._cohorts
            a, state = learner.arrays, learner.compiled
            now = [a[name][node] for name in ("gram", "moment", "count")]
            change = sums[0] - now[0], sums[1] - now[1], int(sums[2] - now[2])
            for model in {0, int(a["label"][node])}:
                cohort_models.add(state, model, *change, 1.0)
            a["gram"][node], a["moment"][node], a["count"][node] = sums
            a["due"][node] = 2**62
            changed.append(node)
        heavy = [n for n in changed if policy._cohorts.arrays["count"][n] > 0]
        bulk.sweep(policy._cohorts.compiled, np.array(heavy, np.int64))


@dataclass
class Outcome:
    """Regret by list, and what else is asked."""

    regret: list[float] = field(default_factory=list)
    user: list[int] = field(default_factory=list)
    first: list[bool] = field(default_factory=list)
    sent: int = 0
    messages: int = 0


def run(
    shards: int, every: int, rounds: int, seed: int, *, lost: str = "", placed: str = "hash"
) -> Outcome:
    """Simulate all shards in the order of their lists; exchange after ``every`` lists."""
    env = cc.environments.Synthetic(
        n_users=USERS, n_clusters=CLUSTERS, n_items=ITEMS, n_features=D, gap="random", seed=seed
    )
    all_shards = [Shard(seed + n) for n in range(shards)]
    home: dict[int, int] = {}
    met: dict[int, int] = {}
    history: dict[int, list[Any]] = {}
    out, alive = Outcome(), list(range(shards))
    bytes_of = 8 * (D * (D + 1) // 2 + D + 1)
    for t in range(rounds):
        user, items = env.next_user()
        while user >= 0.8 * USERS and t < rounds // 2:
            user, items = env.next_user()
        if lost and t == rounds // 2:
            alive.remove(0)
            for who in [who for who, where in home.items() if where == 0]:
                home[who] = alive[who * 7919 % len(alive)]
                for shown, click in history[who] if lost == "rebuilt" else ():
                    all_shards[home[who]].policy.update(who, shown, click)
        if user not in home:
            sizes = [sum(where == n for where in home.values()) for n in alive]
            new = placed == "fullest" and t >= rounds // 2
            home[user] = alive[int(np.argmax(sizes)) if new else user * 7919 % len(alive)]
        policy = all_shards[home[user]].policy
        ranking = policy.recommend(user, items, K)
        answer = env.respond(user, ranking)
        policy.update(user, items[ranking], answer)
        if lost == "rebuilt" and t < rounds // 2:
            history.setdefault(user, []).append((items[ranking], answer))
        out.regret.append(env.regret(user, ranking))
        out.user.append(user)
        out.first.append(t >= rounds // 2 and user >= 0.8 * USERS and met.get(user, 0) < FIRST)
        met[user] = met.get(user, 0) + 1
        if shards > 1 and (t + 1) % every == 0:
            told = {n: all_shards[n].cohorts() for n in alive}
            for n in alive:
                for sender in alive:
                    if sender != n:
                        all_shards[n].receive(sender, told[sender])
                        out.sent += bytes_of * len(told[sender])
                        out.messages += 1
    return out


def total(outcomes: list[Outcome], part: Any = None) -> float:
    """Return the mean over seeds of the regret, of all lists or of those that ``part`` chooses."""
    return float(
        np.mean([
            np.sum(np.array(o.regret)[... if part is None else part(o)]) for o in outcomes
        ])
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("docs/img/shards.svg"))
    options = parser.parse_args()
    rounds, seeds = options.rounds, range(options.seeds)
    started = time.process_time()
    one = [run(1, rounds, rounds, seed) for seed in seeds]
    whole, first = total(one), total(one, lambda o: np.array(o.first))
    print(f"One process: regret {whole:.0f} clicks of {rounds:,} lists, newcomers {first:.1f}\n")
    print("| shards | epoch | regret | against one | newcomers | against one | kB an exchange |")
    print("|---|---|---|---|---|---|---|", flush=True)
    curves: dict[int, list[float]] = {}
    for shards in SHARDS:
        for name, every in EPOCHS.items():
            made = [run(shards, every, rounds, seed) for seed in seeds]
            all_lists, new = total(made), total(made, lambda o: np.array(o.first))
            exchanges = max(1, rounds // every)
            size = np.mean([o.sent for o in made]) / exchanges / 1e3
            curves.setdefault(shards, []).append(100 * (all_lists - whole) / rounds)
            print(
                f"| {shards} | {name}, {every:,} lists | {all_lists:.0f} | "
                f"{all_lists / whole:.2f} | {new:.1f} | {new / first:.2f} | {size:.0f} |",
                flush=True,
            )
    print("\n| shard 0 of 4 lost half-way, epochs of 10 s | regret of its users afterwards |")
    print("|---|---|")

    def orphans(o: Outcome) -> Any:
        user, late = np.array(o.user), np.arange(rounds) >= rounds // 2
        return late & (user < 0.8 * USERS) & (user * 7919 % 4 == 0)

    for what, lost in (("not lost", ""), ("users start anew", "anew"), ("rebuilt", "rebuilt")):
        made = [run(4, 1_000, rounds, seed, lost=lost) for seed in seeds]
        print(f"| {what} | {total(made, orphans):.0f} |", flush=True)
    print("\n| newcomers' first lists, 4 shards, epochs of 10 s | regret |\n|---|---|")
    for placed in ("hash", "fullest"):
        made = [run(4, 1_000, rounds, seed, placed=placed) for seed in seeds]
        print(f"| {placed} | {total(made, lambda o: np.array(o.first)):.1f} |", flush=True)
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for shards, losses in curves.items():
        axes.plot(list(EPOCHS.values()), losses, marker="o", label=f"{shards} shards")
    axes.set(xscale="log", xlabel=f"lists between exchanges (at {RATE} a second: 1 s to 10 min)")
    axes.set_ylabel("clicks lost per 100 lists")
    axes.axhline(0.0, color="0.7", lw=0.8)
    axes.legend(frameon=False)
    figure.savefig(options.out)
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
