"""CohortCascade, word for word: every sample is kept, every probability is that of a dense normal.

The constants are those of the kernels; everything else is written down a second time.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.linalg import solve_triangular

from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels.item_memory import LARGEST_LOGIT
from tests.reference.item_memory import ItemMemory

WITHIN, BETWEEN = constants.WITHIN_VARIANCE, constants.BETWEEN_VARIANCE
PRIOR_MEANS = ("everyone", "cohort")
PREDICTORS = [
    (prior_mean, precision)
    for prior_mean in PRIOR_MEANS
    for precision in (*constants.PRECISIONS, math.inf)
]


def log_probability(rows, clicks, prior_mean, spread, noise):
    """ln p(clicks) if they are rows @ w + N(0, noise) and w ~ N(prior_mean, noise * spread)."""
    covariance = noise * (np.eye(len(rows)) + rows @ spread @ rows.T)
    lower = np.linalg.cholesky(covariance)
    rest = solve_triangular(lower, clicks - rows @ prior_mean, lower=True)
    log_det = 2 * np.log(np.diag(lower)).sum()
    return -0.5 * (rest @ rest + log_det + len(clicks) * math.log(2 * math.pi))


class CohortCascade:
    """The policy with its random numbers handed over.

    ``uniform(t, place)`` is the uniform number of list ``t`` at ``place``, by which users move;
    normal vectors for the draws are arguments of :meth:`draw`. ``margin`` is how near the closest
    decision so far was to falling the other way.
    """

    def __init__(
        self,
        d,
        users,
        uniform,
        explore=0.25,
        reg=1.0,
        max_cohorts=256,
        link="identity",
        memory=64,
        forget=None,
    ):
        self.memory = ItemMemory(memory, logistic=link == "logistic", forget=forget)
        self.forget = forget
        self.logistic = link == "logistic"
        self.d, self.explore, self.reg, self.uniform = d, explore, reg, uniform
        self.places = max_cohorts + 1  # model 0 is everyone's
        self.users, self.rows, self.clicks, self.label, self.due = [], {}, {}, {}, {}
        self.counts, self.own_lists = {}, {}
        for user in users:
            self.join(user)
        self.split_due = [0] * self.places
        self.behind = {g: (np.zeros((d, d)), np.zeros(d), 0) for g in range(self.places)}
        self.error = np.zeros((constants.N_BUCKETS, constants.N_PREDICTORS))
        self.evaluated = np.zeros(constants.N_BUCKETS)  # the observations that errors are of
        self.mixture_error = np.zeros((constants.N_BUCKETS, 2))  # of the cohort's mean, and of all
        self.predictor = [constants.FIRST_PREDICTOR] * constants.N_BUCKETS
        self.noise = constants.INITIAL_NOISE * (16 if self.logistic else 1)
        self.move_rate = 1.0  # the share of reassignments that moved somebody
        self.tolerance = 0.0  # the share of the tolerance that is in force
        self.lists = 0
        self.draws_moves = self.measures_noise = self.mirrors_draws = True
        self.passes_over = True
        self.margin = math.inf
        self.seen = {
            "moves": 0,
            "mergers": 0,
            "departures": 0,
            "full": 0,
            "splits": 0,
            "mixtures": 0,
        }

    def join(self, user):
        self.users.append(user)
        self.rows[user], self.clicks[user] = np.zeros((0, self.d)), np.zeros(0)
        self.label[user], self.due[user] = 0, 0
        self.counts[user] = self.own_lists[user] = 0

    # -- what is known ------------------------------------------------------------------------

    def members(self, g):
        return [user for user in self.users if g == 0 or self.label[user] == g]

    def size(self, g):
        return len(self.members(g))

    def occupied(self):
        return sorted({self.label[user] for user in self.users} - {0})

    def samples(self, users):
        rows = [np.zeros((0, self.d)), *(self.rows[user] for user in users)]
        clicks = [np.zeros(0), *(self.clicks[user] for user in users)]
        return np.vstack(rows), np.concatenate(clicks)

    def ridge(self, users):
        """Covariance (in units of the noise) and mean of ridge weights of some users together."""
        rows, clicks = self.samples(users)
        covariance = np.linalg.inv(self.reg * np.eye(self.d) + rows.T @ rows)
        return covariance, covariance @ rows.T @ clicks

    def posterior(self, g):
        """Covariance (in units of the noise) and weights of model ``g``, as of the last time."""
        gram, moment, _ = self.behind[g]
        covariance = np.linalg.inv(self.reg * np.eye(self.d) + gram)
        return covariance, covariance @ moment

    def weights(self, g):
        return self.posterior(g)[1]

    def count(self, user):
        return self.counts.get(user, 0)

    def count_of(self, g):
        return sum(self.count(user) for user in self.members(g))

    def remember(self, g):
        """Note what model ``g`` has seen: nothing is known of it but this, until next time."""
        rows, clicks = self.samples(self.members(g))
        self.behind[g] = rows.T @ rows, rows.T @ clicks, self.count_of(g)

    def keep(self, g):
        """The same if the count has changed enough."""
        now, then = self.count_of(g), self.behind[g][2]
        if now >= constants.RENEW_GROWTH * then or constants.RENEW_GROWTH * now < then:
            self.remember(g)

    def spread(self, g):
        """Covariance of a user's weights around cohort ``g``."""
        return self.posterior(g)[0] + WITHIN * np.eye(self.d)

    # -- one user -----------------------------------------------------------------------------

    def bucket(self, user):
        return min(int(math.log2(self.count(user) + 1)), constants.N_BUCKETS - 1)

    def prior_model(self, user, predictor):
        return self.label.get(user, 0) if PREDICTORS[predictor][0] == "cohort" else 0

    def own_matrix(self, user, precision):
        rows = self.rows.get(user, np.zeros((0, self.d)))
        return rows.T @ rows + precision * np.eye(self.d)

    def posterior_mean(self, user, precision, prior_mean):
        if precision == math.inf:
            return prior_mean
        if len(self.clicks.get(user, ())) == 0:
            return prior_mean.copy()
        moment = self.rows[user].T @ self.clicks[user]
        return np.linalg.solve(self.own_matrix(user, precision), moment + precision * prior_mean)

    def predictor_of(self, user):
        """The selected predictor; a warm-up user has precision 1 at most."""
        predictor = self.predictor[self.bucket(user)]
        number = self.users.index(user) if user in self.users else len(self.users)
        warm_up = [*range(15, 128, 16), *range(255, number + 1, 128)]
        if number not in warm_up or self.count(user) >= constants.EARLY_OBSERVATIONS:
            return predictor
        return predictor if PREDICTORS[predictor][1] <= 1.0 else PREDICTORS.index(("cohort", 1.0))

    def mixed(self, user):
        """The mean of the cohorts, each as probable as the user's clicks make it; None if not."""
        cohorts = self.occupied()
        few = self.count(user) < constants.EARLY_OBSERVATIONS
        if not few or not 2 <= len(cohorts) <= constants.MOST_MIXED:
            return None
        noise = max(self.noise, constants.LOWEST_NOISE)
        misses = [self.misses(user, self.weights(g)) if user in self.rows else 0 for g in cohorts]
        logs = np.log([self.size(g) for g in cohorts]) - np.array(misses) / (2 * noise)
        chances = np.exp(logs - logs.max())
        return chances / chances.sum() @ np.array([self.weights(g) for g in cohorts])

    def prior_mean(self, user, predictor):
        """Everyone's mean; or that of the cohort, or of all, whichever predicted better so far."""
        if PREDICTORS[predictor][0] == "everyone":
            return self.weights(0)
        own, mixed = self.mixture_error[self.bucket(user)]
        better = own > 0 and self.below(mixed, (1 - constants.MIXTURE_MARGIN) * own)
        mean = self.mixed(user) if better else None
        self.seen["mixtures"] += mean is not None
        return self.weights(self.label.get(user, 0)) if mean is None else mean

    def expected(self, user):
        predictor = self.predictor_of(user)
        return self.posterior_mean(user, PREDICTORS[predictor][1], self.prior_mean(user, predictor))

    def draw(self, user, first, second):
        """The weights that two standard normal vectors stand for: the prior mean, then the user."""
        predictor = self.predictor_of(user)
        g, precision = self.prior_model(user, predictor), PREDICTORS[predictor][1]
        scale = self.explore * math.sqrt(self.noise)
        scale *= 1 - (1 - constants.REMEMBERED_EXPLORE) * self.memory.share
        seen, _, _ = self.behind[g]
        upper = np.linalg.cholesky(self.reg * np.eye(self.d) + seen).T
        wide = constants.MEAN_WIDENING * scale
        prior_mean = self.prior_mean(user, predictor) + wide * np.linalg.solve(upper, first)
        if precision == math.inf:
            return prior_mean
        upper = np.linalg.cholesky(self.own_matrix(user, precision)).T
        return self.posterior_mean(user, precision, prior_mean) + scale * np.linalg.solve(
            upper, second
        )

    def is_sequential(self, user, k):
        """Whether the list is chosen position by position; a single item only for its bonus."""
        precision = PREDICTORS[self.predictor_of(user)][1]
        weak = precision <= constants.LARGEST_SEQUENTIAL_PRECISION
        return self.passes_over and weak and (k > 1 or self.bonus() > 0)

    def bonus(self):
        return self.memory.share * math.sqrt(self.noise)

    def candidate_scores(self, user, items, k, first, second, before=None):
        """What items are ranked by: the better of the drawn weights and their mirror image.

        For a position of the list, those before it, rows of ``items``, having been passed over.
        Without any, for the shortlist: then the width of an item is that of the prior.
        """
        drawn, expected = self.draw(user, first, second), self.expected(user)
        believed = expected if self.mirrors_draws else drawn
        off = np.abs(items @ (drawn - expected)) if self.mirrors_draws else 0.0
        met = self.memory.recalled(user, items)
        scores, later = items @ believed + off, np.zeros(len(items))
        if self.is_sequential(user, k):
            precision = PREDICTORS[self.predictor_of(user)][1]
            prior = self.bonus() * np.linalg.norm(items, axis=1) / math.sqrt(precision)
            later += prior
            if before is not None:
                weights, matrix = self.disappointed(user, believed, items, before, met)
                squares = np.einsum("ij,ji->i", items, np.linalg.solve(matrix, items.T))
                later = items @ (weights - believed) + self.bonus() * np.sqrt(squares)
        for row, record in met.items():
            scores[row] = self.memory.blended(record, scores[row])
            later[row] *= 1 - self.memory.shrinkage(record)
        return scores + later

    def disappointed(self, user, weights, items, passed, met):
        """What is believed if some items are passed over, and how surely (a precision matrix)."""
        precision = self.own_matrix(user, PREDICTORS[self.predictor_of(user)][1])
        for row in passed:
            rows, observations = self.straight(weights, items[row][None], np.zeros(1))
            root = math.sqrt(self.memory.added(met[row])) if row in met else 1.0
            rows, observations = root * rows, root * observations
            told = precision @ weights + rows.T @ observations
            precision = precision + rows.T @ rows
            weights = np.linalg.solve(precision, told)
        return weights, precision

    def assert_list(self, user, items, ranking, k, first, second, near):
        """The list is the best from the shortlist, place by place, but for rounding."""
        assert len(set(ranking.tolist())) == len(ranking) == k
        plain = self.candidate_scores(user, items, k, first, second)
        size = len(items)
        if self.is_sequential(user, k):
            spare = (constants.SHORTLIST_FACTOR - 1) * min(k, constants.SEQUENTIAL_POSITIONS)
            size = min(size, k + spare)
        last = np.sort(plain)[-size]
        clear, allowed = plain > last + near, plain >= last - near
        for place, row in enumerate(ranking):
            before = ranking[:place]
            learned = before[: constants.SEQUENTIAL_POSITIONS - 1]
            candidate_scores = self.candidate_scores(user, items, k, first, second, learned)
            assert allowed[row], f"place {place}: not on the shortlist"
            left = np.delete(candidate_scores, before)[np.delete(clear, before)]
            assert candidate_scores[row] >= np.max(left, initial=-math.inf) - near, f"place {place}"

    # -- learning -----------------------------------------------------------------------------

    def update(self, user, shown_rows, examined, clicks):
        if user not in self.rows:
            self.join(user)
        X = np.array(shown_rows[:examined], dtype=float)
        y = np.array([float(k in clicks) for k in range(examined)])
        X, y = self.memory.learn(user, X, y, self.chance(X @ self.expected(user)))
        self.own_lists[user] += 1
        if self.forget and self.own_lists[user] % self.forget == 0:
            self.halve(user)
        if len(y) == 0:
            return
        t, self.lists = self.lists, self.lists + 1
        few = self.evaluated[self.bucket(user)] < constants.EVALUATED_FULLY
        if few or t % constants.EVALUATED_EVERY == 0:
            self.evaluate(user, X, y)
        if self.logistic:
            X, y = self.straightened(user, X, y)
        self.rows[user] = np.vstack([self.rows[user], X])
        self.clicks[user] = np.concatenate([self.clicks[user], y])
        self.counts[user] += len(y)
        for g in {0, self.label[user]}:
            self.keep(g)
        if self.reassign_due(user, t):
            self.consider_split(user)

    def halve(self, user):
        """What was learned of a user counts half from now on, also in its cohort."""
        self.rows[user] = self.rows[user] * math.sqrt(0.5)
        self.clicks[user] = self.clicks[user] * math.sqrt(0.5)
        dropped = self.counts[user] - self.counts[user] // 2
        self.counts[user] -= dropped
        self.due[user] = 0
        if self.label[user] > 0:
            g = self.label[user]
            self.split_due[g] = max(self.split_due[g] - dropped, 0)
        for g in sorted({0, self.label[user]}):
            self.keep(g)

    def evaluate(self, user, X, y):
        """Every predictor predicts; errors decay; the best is selected from now on."""
        place = self.bucket(user)
        memory = constants.WINDOW_SHARE * self.count_of(0)
        memory = min(max(memory, constants.SHORTEST_WINDOW), constants.LONGEST_WINDOW)
        fade = (1 - 1 / memory) ** len(y)
        fade_noise = constants.NOISE_DECAY ** len(y)
        now = self.predictor[place]
        prior_means = {
            "everyone": self.weights(0),
            "cohort": self.prior_mean(user, len(PREDICTORS) - 1),
        }
        if place > 0 and self.evaluated[place] == 0:
            share = min(1, constants.INHERITED_OBSERVATIONS / max(self.evaluated[place - 1], 1))
            self.error[place] = share * self.error[place - 1]
            self.evaluated[place] = share * self.evaluated[place - 1]
            self.mixture_error[place] = share * self.mixture_error[place - 1]
        for predictor, (prior_mean, precision) in enumerate(PREDICTORS):
            guess = self.chance(X @ self.posterior_mean(user, precision, prior_means[prior_mean]))
            total = float(((y - guess) ** 2).sum())
            self.error[place, predictor] = fade * self.error[place, predictor] + total
            if predictor == now and self.measures_noise and not self.logistic:
                self.noise = fade_noise * self.noise + (1 - fade_noise) * total / len(y)
        self.evaluated[place] = fade * self.evaluated[place] + len(y)
        own, mixed = self.weights(self.label[user]), self.mixed(user)
        means = (own, own if mixed is None else mixed)
        errors = [((y - self.chance(X @ mean)) ** 2).sum() for mean in means]
        self.mixture_error[place] = fade * self.mixture_error[place] + errors
        fair_coin = 4 if self.logistic else 1 / 4
        doubt = min(1, self.noise / fair_coin)
        self.tolerance = (
            doubt * self.count_of(0) / (self.count_of(0) + constants.TOLERANCE_OBSERVATIONS)
        )
        self.predictor[place] = self.tolerated(place, int(np.argmin(self.penalised(place))))

    def chance(self, z):
        return 1 / (1 + np.exp(-z)) if self.logistic else np.clip(z, 0.0, 1.0)

    def straightened(self, user, X, y):
        """Observations linearized, after their noise is measured."""
        expected = self.expected(user)
        z = np.clip(X @ expected, -LARGEST_LOGIT, LARGEST_LOGIT)
        rest = (y - self.chance(z)) / np.sqrt(self.chance(z) * (1 - self.chance(z)))
        if self.measures_noise:
            for square in (2 * rest) ** 2:
                self.noise *= constants.NOISE_DECAY
                self.noise += (1 - constants.NOISE_DECAY) * min(square, 100.0)
        return self.straight(expected, X, y)

    def straight(self, weights, X, y):
        """Observations linearized, with variance 4."""
        if not self.logistic:
            return X, y
        z = np.clip(X @ weights, -LARGEST_LOGIT, LARGEST_LOGIT)
        m = self.chance(z)
        slope = m * (1 - m)
        scale = 2 * np.sqrt(slope)
        return scale[:, None] * X, scale * (z + (y - m) / slope)

    def penalised(self, place):
        """Errors of the predictors, with margin and head start."""
        strongest_first = sorted({precision for _, precision in PREDICTORS}, reverse=True)
        steps = np.array([strongest_first.index(precision) for _, precision in PREDICTORS])
        ahead = np.ones(len(PREDICTORS))
        ahead[PREDICTORS.index(("everyone", 4.0))] = 0
        share = 1 + self.evaluated[place] / constants.HEAD_START_OBSERVATIONS
        return self.error[place] * (1 + constants.MARGIN * steps) + ahead / share

    def tolerated(self, place, best):
        """The smallest precision that is hardly worse, if already the best one is weak."""
        prior_mean, precision = PREDICTORS[best]
        if precision > 4:
            return best
        tolerance = self.tolerance * (constants.TOLERANCE + constants.EARLY_TOLERANCE / 2**place)
        least = self.error[place, best]
        weaker = [
            (other, predictor)
            for predictor, (around, other) in enumerate(PREDICTORS)
            if around == prior_mean
            and other <= precision
            and self.error[place, predictor] <= (1 + tolerance) * least
        ]
        return min(weaker)[1]

    def may_be(self, place, predictor):
        """Whether a predictor may be selected, but for rounding: two may be equally good."""
        errors = self.penalised(place)
        near = np.flatnonzero(errors <= errors.min() + 1e-9)
        return predictor in {self.tolerated(place, int(best)) for best in near}

    def below(self, one, other):
        """``one < other``, remembering how near they were."""
        scale = max(1.0, min(abs(one), abs(other)))
        self.margin = min(self.margin, abs(one - other) / scale)
        return one < other

    def reassign_due(self, user, t):
        due = self.count(user) >= max(self.due[user], constants.FIRST_ASSIGNMENT)
        if due:
            self.place(user, t, 0)
            self.due[user] = int(constants.REASSIGNMENT_GROWTH * self.count(user)) + 5
        if self.uniform(t, 1_000_000) < max(constants.LOWEST_MOVE_RATE, self.move_rate):
            other = self.users[int(self.uniform(t, 1_000_001) * len(self.users))]
            if self.count(other) >= constants.FIRST_ASSIGNMENT:
                moved = self.place(other, t, 1)
                self.move_rate += 0.01 * (float(moved) - self.move_rate)
        return due

    def gumbel(self, t, place):
        if not self.draws_moves:
            return 0.0
        u = self.uniform(t, place) * (1 - 1e-12) + 5e-13
        return -math.log(-math.log(u))

    def evidence(self, users, prior_mean, spread):
        """Log-probability of what some users clicked if their common weights ~ N(prior_mean, .)."""
        rows, clicks = self.samples(users)
        noise = max(self.noise, constants.LOWEST_NOISE)
        return log_probability(rows, clicks, prior_mean, spread, noise)

    def of_own(self, user):
        """Evidence in the user's own cohort without the user, unless it hardly counts there."""
        g = self.label[user]
        if self.count(user) <= (constants.RENEW_GROWTH - 1) * self.count_of(g):
            return self.evidence([user], self.weights(g), self.spread(g))
        covariance, prior_mean = self.ridge([other for other in self.members(g) if other != user])
        return self.evidence([user], prior_mean, covariance + WITHIN * np.eye(self.d))

    def candidates(self, user, t, turn):
        """Label and value (log-probability plus noise) of each cohort in question; 0 is a new one.

        The cohort of the user comes first, a new one second.
        """
        own, first = self.label[user], (self.places + 3) * turn
        if own > 0 and self.size(own) > 1:
            value = self.of_own(user) + math.log(self.size(own) - 1)
            yield own, value + self.gumbel(t, first)
        flat = (WITHIN + BETWEEN) * np.eye(self.d)
        yield 0, self.evidence([user], self.weights(0), flat) + self.gumbel(t, first + 1)
        start = int(self.uniform(t, first + 2) * self.places)
        order = [(start + step) % self.places for step in range(self.places)]
        others = [g for g in order if g != own and g in self.occupied()]
        for g in self.promising(user, others[: constants.MAX_CANDIDATES], t, first):
            value = self.evidence([user], self.weights(g), self.spread(g))
            yield g, value + math.log(self.size(g)) + self.gumbel(t, first + 3 + g)

    def promising(self, user, labels, t, first):
        """The few labels whose weights, taken as certain, explain the user best."""
        noise = max(self.noise, constants.LOWEST_NOISE)
        most = constants.SCORED_CANDIDATES
        candidate_scores = {}
        for g in labels:
            better = self.misses(user, np.zeros(self.d)) - self.misses(user, self.weights(g))
            uniform = self.gumbel(t, first + 3 + g)
            candidate_scores[g] = better / (2 * noise) + math.log(self.size(g)) + uniform
        ranked = sorted(labels, key=lambda g: -candidate_scores[g])
        for one, other in pairwise(ranked[: most + 1]):
            self.below(candidate_scores[other], candidate_scores[one])
        return ranked[:most]

    def place(self, user, t, turn):
        own = self.label[user]
        best, top, runner, second = -1, -math.inf, 0, -math.inf
        for g, value in self.candidates(user, t, turn):
            if self.below(top, value):
                if g != 0:  # a new cohort does not make the one before it a candidate for a merger
                    runner, second = best, top
                best, top = g, value
            elif g != 0 and self.below(second, value):
                runner, second = g, value
        if best == 0:
            best = own if own > 0 and self.size(own) == 1 else self.free_label() or own
        if best != own:
            self.move(user, best)
        if runner > 0 and runner != best and best > 0 and self.size(runner) > 0:
            tried = self.uniform(t, 1_000_002 + turn) < constants.MERGE_RATE
            if tried and self.below(top - second, constants.MERGE_EVIDENCE):
                small, large = runner, best
                if self.size(runner) > self.size(best):
                    small, large = best, runner
                if self.gain_of_two(small, large) < 0:
                    self.merge(small, large)
        return best != own

    def free_label(self):
        for g in range(1, self.places):
            if g not in self.occupied():
                return g
        self.seen["full"] += 1
        return 0

    def move(self, user, g):
        if self.size(g) == 0:
            self.split_due[g] = 0
        own, self.label[user] = self.label[user], g
        self.seen["moves"] += 1
        self.seen["departures"] += own > 0
        for changed in (own, g):
            if changed > 0:
                self.keep(changed)

    def gain_of_two(self, small, large):
        """By how much two cohorts explain the small one's feedback better than one."""
        apart = WITHIN * (1 / self.size(small) + 1 / self.size(large)) * np.eye(self.d)
        covariance, prior_mean = self.posterior(large)
        together = self.evidence(self.members(small), prior_mean, covariance + apart)
        flat = BETWEEN * np.eye(self.d)
        alone = self.evidence(self.members(small), self.weights(0), flat + apart)
        self.below(alone, together)
        return alone - together

    def merge(self, small, large):
        self.seen["mergers"] += 1
        for user in self.members(small):
            self.label[user] = large
        self.keep(large)
        self.keep(small)

    # -- a cohort in two ----------------------------------------------------------------------

    def misses(self, user, weights):
        """Squared error of what weights say of all that a user has examined."""
        return float(((self.clicks[user] - self.rows[user] @ weights) ** 2).sum())

    def consider_split(self, user):
        """Part a cohort if some of it would rather follow ``user``; all of it is asked here."""
        g = self.label[user]
        members = self.members(g)
        if g == 0 or len(members) < 2 or self.count_of(g) < self.split_due[g]:
            return
        self.split_due[g] = int(constants.SPLIT_GROWTH * self.count_of(g)) + 5
        new = self.free_label()
        if new == 0:
            return
        assert len(members) <= constants.MAX_SPLIT_USERS
        old_centre = self.weights(g)
        new_centre = self.posterior_mean(user, 1 / BETWEEN, old_centre)
        followers = [user]
        for turn in range(constants.SPLIT_ITERATIONS):
            if turn > 0:
                new_centre = self.ridge(followers)[1]
                old_centre = self.ridge([one for one in members if one not in followers])[1]
            followers = [
                one
                for one in members
                if self.below(self.misses(one, new_centre), self.misses(one, old_centre))
            ]
            stay = len(members) - len(followers)
            if not followers or not stay:
                return
        for one in followers:
            self.label[one] = new
        self.remember(g)
        self.remember(new)
        self.split_due[new] = self.split_due[g]
        small, large = (g, new) if len(followers) > stay else (new, g)
        if self.below(0.0, self.gain_of_two(small, large)):
            self.seen["splits"] += 1
        else:
            self.merge(small, large)
            self.seen["mergers"] -= 1
