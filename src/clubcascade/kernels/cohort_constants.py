"""The constants of CohortCascade: none of them is a parameter.

Units: variances and precisions are in units of the noise variance, as on the page that derives the
policy (docs/explain/cohort-cascade.md). An observation is one examined item. Where a line says what
was tried, that page or the history of this file has the numbers; all were chosen on development
seeds, none on seeds of the evaluation.
"""

from __future__ import annotations

import numpy as np

# -- the model ---------------------------------------------------------------------------------

WITHIN_VARIANCE = 1 / 1000
"""tau_W: variance of users' weights around their cohort's mean."""
BETWEEN_VARIANCE = 1 / 32
"""tau_B: variance of cohort means around everyone's mean."""
INITIAL_NOISE = 0.15
"""Noise variance (squared error of a click) before any was measured."""
NOISE_DECAY = 0.999
"""Weight of older errors in the noise, per observation. Faster at the start: no change."""
LOWEST_NOISE = 1e-4
"""Noise variance below which the evidence does not go."""
LOGISTIC_NOISE = 16.0
"""Noise variance of linearized observations (4) per variance of a fair coin (1/4): not chosen."""
LARGEST_SQUARED_RESIDUAL = 100.0
"""Largest squared residual of a linearized observation that enters the noise."""

# -- predictors: a prior mean and a prior precision --------------------------------------------

PRECISIONS = np.array([256.0, 64.0, 16.0, 4.0, 1.0, 0.25])
"""p: finite prior precisions, from the strongest to the weakest; the infinite one comes last."""
N_PREDICTORS = 2 * len(PRECISIONS) + 2
"""Every precision and the infinite one, around everyone's mean and around the cohort's."""
FIRST_PREDICTOR = 3
"""Predictor before any error is known: everyone's mean with precision 4. From that precision on,
weaker ones are tolerated."""
WARM_UP_PREDICTOR = N_PREDICTORS - 3
"""Predictor of a warm-up user, unless a weaker precision is selected: the cohort, precision 1."""
N_BUCKETS = 32
"""Powers of two of a user's number of observations, each with errors of its own."""

# -- the posterior over cohorts ----------------------------------------------------------------

EARLY_OBSERVATIONS = 128
"""Observations of a user up to which the posterior over cohorts may serve (later it is certain),
and for which a warm-up user is one."""
MOST_MIXED = 64
"""Cohorts up to which it may, so that its cost is bounded."""
MIXTURE_MARGIN = 0.01
"""Share of the error of the cohort's mean by which it must beat that. Tried: 0.001 (10% more regret
with one cluster of 40 users), always (the same), never (a third more with 5 clusters of 200)."""

# -- warm-up users -----------------------------------------------------------------------------

WARM_UP_EVERY, EARLY_USERS = 16, 128
"""One user in 16 of the first 128 is a warm-up user, and one in 128 later. Tried: none (three of
ten runs in the world of niches lost a click in four for ever), and one in 16 of all (a fifth more
regret where a thousand users hardly differ)."""

# -- prequential selection ---------------------------------------------------------------------

HEAD_START_OBSERVATIONS = 100.0
"""Evaluated observations after which half of the head start of the first predictor is left. It
begins as the largest squared error of one observation, 1."""
MARGIN = 0.001
"""Share of its error by which a predictor must beat the one of the next larger precision."""
TOLERANCE = 0.02
"""Share of the error by which a weaker precision may be worse where a click is a fair coin; less in
proportion where the noise is. Tried: none (as good on real clicks, 5 to 10% more regret where every
user is alone), whole at any noise (twice as many missed clicks on MovieLens 1M, together with lists
chosen all at once)."""
EARLY_TOLERANCE = 0.5
"""The same, divided by the power of two of the user's observations, on top."""
TOLERANCE_OBSERVATIONS = 2000.0
"""Observations, of everyone, after which half of the tolerance is in force."""
EVALUATED_FULLY = 900.0
"""Observations of a power of two up to which every list is evaluated. Tried: gaps from the start
(choices after a few noisy lists cost most where every user is alone)."""
EVALUATED_EVERY = 16
"""Lists of which one is evaluated from then on."""
SHORTEST_WINDOW, LONGEST_WINDOW = 1000.0, 5000.0
"""Evaluated observations that are remembered, at the least and at the most. Tried: 1,000 always
(203 instead of 165 regret with one cluster of 200 users)."""
WINDOW_SHARE = 1.0 / 16.0
"""Share of all observations so far that is remembered, between the two."""
INHERITED_OBSERVATIONS = 250.0
"""Observations' worth of errors that a power of two starts with: those of the one below it."""

# -- reassignment and mergers ------------------------------------------------------------------

FIRST_ASSIGNMENT = 10
"""Observations at which a user is first assigned to a cohort."""
REASSIGNMENT_GROWTH = 1.1
"""Factor by which a user's observations grow from one reassignment to the next; half of those at
the first assignment come on top, as for splits."""
MAX_CANDIDATES = 16
"""Cohorts that one reassignment looks at, besides the user's own and a new one."""
SCORED_CANDIDATES = 3
"""Those of them, the most promising ones, whose evidence is computed."""
MERGE_EVIDENCE = 3.0
"""Difference of log-posteriors (nats) below which two cohorts may be tested for a merger."""
MERGE_RATE = 1.0 / 4.0
"""Share of these cases in which they are: hardly any two cohorts are one."""
LOWEST_MOVE_RATE = 1.0 / 32.0
"""Least probability that a list is followed by the reassignment of another user."""
MOVE_RATE_STEP = 0.01
"""Weight of the last such reassignment in the running share of those that moved a user."""

# -- splits ------------------------------------------------------------------------------------

MAX_SPLIT_USERS = 64
"""Users of a cohort who choose a side, at the most."""
SPLIT_ITERATIONS = 4
"""Rounds of k-means with two means."""
SPLIT_GROWTH = 1.2
"""Factor by which a cohort's observations grow from one proposal to the next. Tried: a charge for
the free choice of sides (true clusters stayed together twice as long)."""
RENEW_GROWTH = 1.02
"""Factor of a model's observations after which its mean and matrices are computed anew. A user with
a smaller share of a cohort is not taken out to be compared with it. Tried: 1.01
and 1.05, and at every observation (the same regret within noise)."""

# -- warm starts -------------------------------------------------------------------------------

CALIBRATION_CLICKS = 16.0
"""Clicks on lists after which the outcomes of a warm start are scaled by what they promised."""

# -- ranking -----------------------------------------------------------------------------------

MEAN_WIDENING = 2.0
"""omega: how much wider prior means are drawn than users around them. Tried: 1 (worse where all
users are alike) and 3."""
REMEMBERED_EXPLORE = 0.4
"""Factor of the draws' width where all that the weights do not explain stays with a user and an
item. Tried on four sets of real clicks: 0.2 (worse on two), 1 (10% more misses of new users)."""
SHORTLIST_FACTOR = 3
"""Candidates for each position of the list."""
SEQUENTIAL_POSITIONS = 16
"""Positions that are chosen as if those before were passed; for all, cost would grow with k^2."""
LARGEST_SEQUENTIAL_PRECISION = 16.0
"""Largest precision at which they are. Tried: 64 (no change in seven worlds, a quarter of a round's
time)."""
