"""How often "is it better?" is answered wrongly: false alarms, power, and coverage offline.

    python -m benchmarks.verdict [PART ...] [--runs N] [--matrix CLICKS.npy] [--kept LOGS]

Prints the tables of docs/howto/is-it-better.md; that page says what was changed after a look at
results. The second and the third offline worlds, and the part ``service``, were fixed, with all
thresholds, before any of their results.
``--matrix``: users x items, 0/1 clicks of one's own, as one more world of the A/A tests.
"""

from __future__ import annotations

import argparse
import copy
import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

import clubcascade as cc
from clubcascade.evaluation import Log, exclusive_credit, team_draft
from clubcascade.evaluation.clusters import LEAST_USERS, effective, moments_of, reach, variance
from clubcascade.evaluation.offline import bootstrap, judge
from clubcascade.evaluation.redraw import attraction, list_terms, lists_of, replayed, user_codes
from clubcascade.service.decision import Decision
from clubcascade.service.events import Answered, ExperimentPut
from clubcascade.service.experiments import Experiment, Results

ALPHA, LOOKS, K = 0.05, 50, 4
AA_LISTS, POWER_LISTS = 40_000, 1_000_000
RATES = {"rare clicks": 0.16, "common clicks": 0.55}
PANEL, PER_USER = 2_000, 20  # users of a panel; lists a user, on average, where new ones come
FIRST = {
    "fixed": {"n_items": 60},
    "fresh": {"n_items": 30, "items": "fresh"},
    "misspecified": {"n_items": 60, "misspecification": 0.1, "personal": 0.3},
    "position bias": {"n_items": 60, "discount": (1.0, 0.8, 0.6, 0.4)},  # of attraction by place
}
"""The least weight of whole lists was chosen after these, and before those that follow."""
SECOND = {
    "fixed 2": {"n_items": 40, "n_clusters": 8, "n_features": 8},
    "fresh 2": {"n_items": 20, "items": "fresh", "n_clusters": 3},
    "misspecified 2": {"n_items": 40, "misspecification": 0.15, "personal": 0.2, "n_features": 8},
    "position bias 2": {"n_items": 40, "discount": (1.0, 0.7, 0.5, 0.35), "n_clusters": 3},
}
THIRD = {
    "fixed 3": {"n_items": 50, "n_clusters": 6, "n_features": 12},
    "fresh 3": {"n_items": 25, "items": "fresh", "n_clusters": 4, "n_features": 8},
    "misspecified 3": {"n_items": 30, "misspecification": 0.12, "personal": 0.25},
    "position bias 3": {"n_items": 50, "discount": (1.0, 0.75, 0.55, 0.45), "n_features": 8},
}
"""Without the trap and without another policy, of which the log has almost nothing to tell."""
USERS, SAMPLED, BEFORE, DRAWS = 800, 300, 16_000, 64
OFFLINE = (  # worlds, lists of a log, seeds of the logs of a world, whether of all policies
    (FIRST, 3_000, range(20), True),
    (SECOND, 6_000, range(10), True),
    (THIRD, 4_000, range(100, 112), False),
)
SERVICE_LISTS, SERVICE_USERS = 4_000, 400


# -- online ----------------------------------------------------------------------------------------


def arrivals(rng, n, stream):
    """Whose list it is: all users from the start, or ever new ones; some come more often."""
    users = n // PER_USER if stream else PANEL
    active = rng.gamma(1.0, 1.0, users)
    if not stream:
        return rng.choice(users, n, p=active / active.sum())
    first = np.sort(rng.random(users))  # a user's lists begin when it joins
    lists = rng.multinomial(n, active / active.sum())
    time = np.repeat(first, lists) + 0.1 * rng.random(n)
    return np.repeat(np.arange(users), lists)[np.argsort(time)]


def looks_of(who, y, x, n_looks=LOOKS):
    """Moments and numbers of users at every look; y and x by list."""
    users = int(who.max()) + 1
    ends = np.append(0, np.geomspace(who.size / 200, who.size, n_looks)).astype(int)
    ys, xs = np.zeros(users), np.zeros(users)
    moments, counts = [], []
    for start, end in zip(ends, ends[1:], strict=False):
        ys += np.bincount(who[start:end], y[start:end], users)
        xs += np.bincount(who[start:end], x[start:end], users)
        moments.append([part.sum() for part in moments_of(ys, xs)])
        counts.append((xs > 0).sum())
    return np.array(moments), np.array(counts), ends[1:]


def first_alarm(who, clicks, arm):
    """The first look at which the arms seem to differ, by four analyses; LOOKS for never."""
    parts = [looks_of(who, clicks * a, a.astype(float))[:2] for a in (arm, ~arm)]
    (m1, n1), (m0, n0) = parts
    rate = [m[:, 0] / np.maximum(m[:, 1], 1) for m in (m1, m0)]
    apart = np.abs(rate[0] - rate[1])
    pooled = (m1[:, 0] + m0[:, 0]) / (m1[:, 1] + m0[:, 1])
    by_user = variance(m1, n1) + variance(m0, n0)
    by_list = sum(r * (1 - r) / m[:, 1] for r, m in zip(rate, (m1, m0), strict=True))
    enough = np.minimum(effective(m1), effective(m0)) >= LEAST_USERS
    found = {"ratio": np.sqrt(by_user[-1] / by_list[-1])}
    for name, spread in (("user", by_user), ("list", by_list)):
        for way, factor in (("any time", reach(spread / pooled**2, ALPHA, 0.05)), ("1.96", 1.96)):
            alarm = enough & (apart > factor * np.sqrt(spread))
            found[name, way] = int(np.argmax(alarm)) if alarm.any() else LOOKS
    return found


def user_rates(rng, mean, users):
    return rng.beta(3 * mean, 3 * (1 - mean), users)


def clicks_of(rng, who, arm, mean, lift, table=None):
    if table is not None:  # 4 random ones of the 10 most popular items
        top = np.argsort(-table.mean(0))[:10]
        picks = np.argsort(rng.random((who.size, 10)), axis=1)[:, :K]
        rows = rng.integers(0, len(table), int(who.max()) + 1)[who]
        return table[rows[:, None], top[picks]].any(1)
    rates = user_rates(rng, mean, int(who.max()) + 1)[who]
    return rng.random(who.size) < np.minimum(rates * np.where(arm, 1 + lift, 1), 1)


def worlds():
    return [
        (f"{n}, {w}", m, s) for n, m in RATES.items() for s, w in enumerate(("panel", "new users"))
    ]


def false_alarms(runs, table):
    header(
        f"A/A tests, {runs} runs of {AA_LISTS:,} lists, {LOOKS} looks: false alarms",
        "world", "by user, any time", "per list, any time",
        "by user, 1.96 at every test", "per list, 1.96 at every test", "error, user / list",
    )  # fmt: skip
    for name, mean, stream in worlds() + (
        [("matrix, panel", None, 0)] if table is not None else []
    ):
        rng, alarms = np.random.default_rng(201), {}
        for _ in range(runs):
            who = arrivals(rng, AA_LISTS, stream)
            arm = (rng.random(int(who.max()) + 1) < 0.5)[who]
            clicks = clicks_of(rng, who, arm, mean, 0.0, None if mean else table)
            for key, at in first_alarm(who, clicks, arm).items():
                alarms[key] = alarms.get(key, 0) + (at if key == "ratio" else at < LOOKS)
        order = [("user", "any time"), ("list", "any time"), ("user", "1.96"), ("list", "1.96")]
        row(name, *(f"{alarms[key] / runs:.1%}" for key in order), f"{alarms['ratio'] / runs:.1f}")


def power(runs):
    title = (
        f"Power by user, {runs} runs: detected within {POWER_LISTS:,} lists, and the median list"
    )
    header(title, "world", "5%", "10%")
    for name, mean, stream in worlds():
        cells = []
        for lift in (0.05, 0.10):
            rng, found = np.random.default_rng(202), []
            for _ in range(runs):
                who = arrivals(rng, POWER_LISTS, stream)
                arm = (rng.random(int(who.max()) + 1) < 0.5)[who]
                at = first_alarm(who, clicks_of(rng, who, arm, mean, lift), arm)["user", "any time"]
                found.append(POWER_LISTS * 200 ** (at / (LOOKS - 1) - 1) if at < LOOKS else np.inf)
            cells.append(f"{np.isfinite(found).mean():.0%}, {np.median(found):,.0f}")
        row(name, *cells)


def interleaving(runs):
    """Screens of lists with two items in common, and of a list that is more diverse."""
    header(
        f"Screen, {runs} runs: rankings with two of four items in common, and a diverse one",
        "rankings", "clicks a list, A and B", "screen names A", "names B", "median list",
    )  # fmt: skip
    a, b = [0, 1, 2, 3], [0, 4, 2, 5]
    for name, lift in (("alike", 0.0), ("B 5% better", 0.05), ("B 10% better", 0.10)):
        base = np.full(6, 1 - (1 - 0.55) ** 0.25)
        base[4:] = 1 - np.sqrt(1 - 0.55 * (1 + lift)) / (1 - base[0])  # of B's own two
        screen(name, a, b, base[None], [1.0], runs)
    tastes = np.zeros((2, 8))
    tastes[0, [0, 1, 2, 3, 5, 7]] = 0.5  # 70% like A's four and two of B's
    tastes[1, [4, 6]] = 0.5  # the others like the other two of B's
    screen("B 14% better, diverse", [0, 1, 2, 3], [4, 5, 6, 7], tastes, [0.7, 0.3], runs)


class Coins:
    """Gives coins as they are told, so that all drafts are equally many."""

    def __init__(self, coins):
        self.random = iter(coins).__next__


def screen(name, a, b, attraction, shares, runs, lists=20_000):
    rng, named, when = np.random.default_rng(203), [0, 0], []
    drafts = np.array([team_draft(a, b, Coins(each)) for each in product((0.0, 0.9), repeat=K)])
    credit = np.array([[exclusive_credit(d, a, b, [c]) for c in range(K)] for d in drafts])
    for _ in range(runs):
        who = arrivals(rng, lists, False)
        taste = rng.choice(len(shares), int(who.max()) + 1, p=shares)[who]
        keen = rng.gamma(8, 1 / 8, int(who.max()) + 1)[who]
        draft = rng.integers(0, len(drafts), lists)
        p = np.minimum(attraction[taste[:, None], drafts[draft]] * keen[:, None], 1)
        hits = rng.random(p.shape) < p
        won = credit[draft, hits.argmax(1)] * hits.any(1)[:, None]
        moments, users, ends = looks_of(who, won[:, 1] - won[:, 0], won.sum(1))
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio, spread = moments[:, 0] / moments[:, 1], variance(moments, users)
            out = np.abs(ratio) > reach(spread, ALPHA, 0.1) * np.sqrt(spread)
        out &= effective(moments) >= LEAST_USERS
        if out.any():
            at = int(np.argmax(out))
            named[int(ratio[at] > 0)] += 1
        when.append(ends[at] if out.any() else np.inf)
    values = [np.dot(shares, 1 - np.prod(1 - attraction[:, r], axis=1)) for r in (a, b)]
    shares_named = (f"{each / runs:.0%}" for each in named)
    row(name, f"{values[0]:.3f}, {values[1]:.3f}", *shares_named, f"{np.median(when):,.0f}")


def service(runs):
    """A/A tests in the service's own fold of its log: arms by its hash, a look at every point."""
    header(
        f"A/A in the service, {runs} runs of {SERVICE_LISTS:,} lists of {SERVICE_USERS} users",
        "world", "false alarms", "points looked at",
    )  # fmt: skip
    put = ExperimentPut("aa", "ab", (("now", "x", 1.0, 1.0), ("new", "y", 1.0, 1.0)))
    for name, mean in RATES.items():
        rng, alarms, seen = np.random.default_rng(204), 0, 0
        for run in range(runs):
            experiment = Experiment(put, run + 1)
            arms = [experiment.arm_of(user)[0] for user in range(SERVICE_USERS)]
            rates, active = user_rates(rng, mean, len(arms)), rng.gamma(1.0, 1.0, len(arms))
            who = rng.choice(len(arms), SERVICE_LISTS, p=active / active.sum())
            hits = rng.random(SERVICE_LISTS) < rates[who]
            results = Results(experiment)
            events = answers(experiment, arms, who, hits)
            results.follow(lambda after, events=events: events)
            (verdict,) = results.tell()["verdicts"]
            ends = [(low, high) for _, low, high in verdict["curve"] if low is not None]
            seen += len(ends)
            alarms += any(low > 0 or high < 0 for low, high in ends)
        row(name, f"{alarms / runs:.1%}", f"{seen:,}")


def answers(experiment, arms, who, hits):
    for at, (user, hit) in enumerate(zip(who.tolist(), hits.tolist(), strict=True)):
        decision = Decision(
            str(at), (1, 2), None, 0, "x", user, experiment=experiment.id, arm=arms[user]
        )
        given = (1, (0,)) if hit else (2, ())
        yield experiment.position + at + 1, Answered(decision, "applied", given, 0)


# -- offline ---------------------------------------------------------------------------------------


class World:
    """A synthetic world, with an effect of position in one of them."""

    def __init__(self, seed, discount=(1.0,) * K, n_clusters=5, n_features=10, **params):
        self.env = cc.environments.Synthetic(
            n_users=USERS, n_clusters=n_clusters, n_features=n_features, gap="random", seed=seed,
            click_rates=(0.0, 0.3), **params,
        )  # fmt: skip
        self.fresh, self.n = self.env.offered is not None, self.env.n_items
        self.discount = np.array(discount)

    def items(self, rng):
        if not self.fresh:
            return self.env.catalog, None
        rows = rng.choice(len(self.env.catalog), self.n, replace=False)
        return np.ascontiguousarray(self.env.catalog.features[rows]), rows

    def chances(self, user, rows, ranking):
        real = ranking if rows is None else rows[ranking]
        return self.env.attraction[self.env.kind[user]][real] * self.discount

    def run(self, policy, rounds, users, rng):
        """Let a policy serve and learn; return the columns of a log and the expected clicks."""
        found, expected = [], []
        for n in range(rounds):
            user = int(users[rng.integers(len(users))])
            items, rows = self.items(rng)
            ranking = policy.recommend(user, items, K)
            p = self.chances(user, rows, ranking)
            hits = rng.random(K) < p
            click = int(hits.argmax()) if hits.any() else None
            policy.update(user, items[ranking], click)
            found.append((user, ranking, click, items, n))
            expected.append(1 - np.prod(1 - p))
        users, shown, clicks, candidates, made = map(list, zip(*found, strict=True))
        one = candidates if self.fresh else self.env.catalog
        return Log(users, shown, clicks, one, made=made), float(np.mean(expected))

    def value(self, policy, rng, users):
        """True clicks per list of a frozen policy, over these users."""
        found = []
        for user in users:
            for _ in range(4 if self.fresh else 1):
                items, rows = self.items(rng)
                lists = lists_of(policy, user, items, K, 2 if self.fresh else 4)
                found += [1 - np.prod(1 - self.chances(user, rows, each)) for each in lists]
        return float(np.mean(found))


def frozen(policy, explore):
    other = policy.fresh().set_params(explore=explore)
    other.load_state(policy.state())
    return other


def offline(worlds, window, seeds, every_policy, kept):
    """Log after log, of all worlds in turn; with a file, each is kept there and not made again."""
    rows = {}
    for line in kept.read_text().splitlines() if kept and kept.exists() else ():
        key, found = json.loads(line)
        rows[tuple(key)] = found
    for seed in seeds:
        for world, params in worlds.items():
            if (key := (world, window, seed)) in rows:
                continue
            rows[key] = one_log(World(1000 + seed, **params), window, seed, every_policy)
            if kept:
                with kept.open("a") as file:
                    print(json.dumps([key, rows[key]]), file=file)
    about = f"lists of {SAMPLED} of {USERS} users, M = {DRAWS}"
    header(
        f"Offline, {len(seeds)} logs of {window:,} {about}",
        "world, policy", "W1", "W4", "ESS", "shown", "bias", "coverage when shown",
        "coverage if always shown", "item-wise", "self-normalised", "bracket",
    )  # fmt: skip
    every = []
    for world in worlds:
        logs = [rows[world, window, seed] for seed in seeds]
        for name in logs[0]:
            found = [log[name] for log in logs]
            row(f"{world}, {name}", *cells_of(found))
            every += [] if "reuse" in name else found
    signs = [row["right"] for row in every if row["can_tell"]]
    ratios = [row["ratio"] for row in every]
    naive = [row["naive"] for row in every if row["naive"] is not None]
    told = [row["covered"] for row in every if row["told"]]
    print(f"\nestimates shown: {len(told)} of {len(every)}, coverage {share_of(told)}")
    print(f"verdicts: {len(signs)}, of which name the better one: {share_of(signs)}")
    print(
        "standard errors by user over those by list, of the difference: "
        f"{np.min(ratios):.2f} to {np.max(ratios):.2f}, median {np.median(ratios):.2f}"
    )
    print(f"clicks of logged lists that agree with the policy, minus the truth: {mean_of(naive)}")


def share_of(values):
    """A share and its 95% interval (Clopper and Pearson 1934)."""
    if not values:
        return "none"
    found = binomtest(int(np.sum(values)), len(values)).proportion_ci()
    return f"{np.mean(values):.3f} ({found.low:.2f} to {found.high:.2f})"


def mean_of(values):
    return f"{np.mean(values):.3f}" if values else "none"


def one_log(world, window, seed, every_policy):
    rng = np.random.default_rng([5000 + seed, window])
    everyone = np.arange(USERS)
    logger = cc.CohortCascade(n_features=world.env.n_features, seed=seed)
    world.run(logger, BEFORE // 2, everyone, rng)
    older = frozen(logger, 0.0)
    world.run(logger, BEFORE // 2, everyone, rng)
    start, other = copy.deepcopy(logger), cc.C3UCB(n_features=world.env.n_features, beta=0.3)
    if every_policy:
        world.run(other, BEFORE, everyone, rng)
    log, logged = world.run(logger, window, rng.choice(USERS, SAMPLED, replace=False), rng)
    policies = {
        "greedy": frozen(start, 0.0),
        "more exploration": frozen(start, 0.5),
        "older snapshot, greedy": older,
    }
    if every_policy:
        policies["another policy"] = other
        policies["reuse of the log (trap)"] = frozen(logger, 0.0)
    found, found_terms = {}, shared_terms(log, start, policies)
    for name, policy in policies.items():
        weights, values = found_terms[name]
        users, reward = user_codes(log.users), (log.first >= 0).astype(float)
        told = judge(weights, values, log.first, users, np.random.default_rng(seed))
        truth, whole = world.value(policy, rng, everyone), weights[:, -1]
        here = world.value(policy, rng, sorted(set(log.users)))  # of the users whom the log has
        columns = np.column_stack([values[:, :2], whole * reward, whole, values[:, 0] - reward])
        repeats = bootstrap(columns, users, np.random.default_rng(seed))
        normal = repeats[:, 2] / np.maximum(repeats[:, 3], 1e-9)
        inside = [_inside(each, truth) for each in (repeats[:, 0], repeats[:, 1], normal)]
        same = (whole > 0) & (name == "older snapshot, greedy")
        right = (
            None if told.difference is None else (told.estimate > told.logged) == (here > logged)
        )
        row = {
            "W1": told.first_weight, "W4": whole.mean(), "ESS": told.effective_lists,
            "told": told.estimate is not None, "bias": columns[:, 0].mean() - truth,
            "covered": inside[0], "item": inside[1], "normal": inside[2], "right": right,
            "bracket": told.bracket is not None and told.bracket[0] <= truth <= told.bracket[1],
            "can_tell": told.can_tell,
            "ratio": repeats[:, 4].std() / (columns[:, 4].std() / np.sqrt(len(reward))),
            "naive": reward[same].mean() - truth if same.sum() > 30 else None,
        }  # fmt: skip
        found[name] = {key: v.item() if isinstance(v, np.generic) else v for key, v in row.items()}
    return found


def shared_terms(log, start, policies):
    """Weights and terms of all policies from the same redrawn lists, to save time."""
    found = {name: (np.empty((len(log), K)), np.empty((len(log), 3))) for name in policies}
    for at, model in replayed(log, start, np.arange(len(log))):
        user, items, shown = log.users[at], log.items(at), log.shown[at]
        theta = attraction(model, user, items, 0.5)
        drawn = lists_of(model, user, items, K, DRAWS)
        for name, policy in policies.items():
            own = lists_of(policy, user, items, K, DRAWS if name == "more exploration" else 1)
            weights, terms = list_terms(theta, shown, int(log.first[at]), drawn, own, None)
            found[name][0][at], found[name][1][at] = weights, terms
    return found


def _inside(repeats, truth):
    low, high = np.quantile(repeats, [0.025, 0.975])
    return low <= truth <= high


def cells_of(found):
    def mean(key, rows=found):
        return np.mean([row[key] for row in rows]) if rows else np.nan

    told = [row for row in found if row["told"]]
    yield from (f"{mean('W1'):.2f}", f"{mean('W4'):.2f}", f"{mean('ESS'):,.0f}")
    yield from (f"{mean('told'):.0%}", f"{mean('bias'):+.3f}")
    yield f"{mean('covered', told):.2f}" if told else "none"
    yield from (f"{mean(key):.2f}" for key in ("covered", "item", "normal", "bracket"))


def header(title, *cells):
    print(f"\n{title}\n")
    row(*cells)
    print("|---" * len(cells) + "|")


def row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = ("false-alarms", "power", "screen", "service", "offline")
    parser.add_argument("parts", nargs="*", default=parts, metavar="|".join(parts))
    parser.add_argument("--runs", type=int, default=500, help="A/A tests")
    parser.add_argument("--since", type=int, default=0, help="offline: 2 for the third worlds only")
    parser.add_argument("--kept", type=Path, help="file of finished offline logs, to go on from")
    parser.add_argument("--matrix", help="users x items, 0/1 clicks, as .npy")
    options = parser.parse_args()
    table = None if options.matrix is None else np.load(options.matrix) > 0
    calls = (
        lambda: false_alarms(options.runs, table),
        lambda: power(max(options.runs // 10, 10)),
        lambda: interleaving(max(options.runs // 5, 10)),
        lambda: service(options.runs),
        lambda: [offline(*each, options.kept) for each in OFFLINE[options.since :]],
    )
    for part, call in zip(parts, calls, strict=True):
        if part in options.parts:
            call()


if __name__ == "__main__":
    main()
