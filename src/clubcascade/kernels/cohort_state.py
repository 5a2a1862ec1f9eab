"""The compiled state of CohortCascade."""

from __future__ import annotations

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, struct


@struct
class Cohort(Struct):
    """Everyone, cohorts, users.

    ``ridge``: model 0 is everyone's, the others are cohorts'. Per model: ``root`` (factor of M),
    ``prior`` and ``prior_log_det`` (A^-1 and ln det A of a user's weights around its mean),
    ``root_count`` (count when these, mean and M^-1 were computed), ``size`` (users), ``head`` (one
    of them), ``split_due`` (count at which a split is tried). Per user: ``gram`` (S), ``moment``
    (b), ``count`` (n, the observations), ``label`` (its cohort, 0 before it has one), ``due``
    (count at which it is reassigned), ``after`` and ``before`` (the ring of the cohort's users).
    Per power of two of the count: ``error`` (squared error of every predictor and, in the last
    column, the observations that it is of) and ``predictor``, the selected one. Arrays that end in
    ``work``, ``list_gram``, ``list_moment`` and those of a split are scratch.

    Scalars. Of the model: ``explore`` (scale of the draws), ``within_variance`` (of users around a
    cohort), ``between_variance`` (of cohorts around everyone), ``mean_widening`` (how much wider
    prior means are drawn), ``logistic`` (link). Switches of the ablation: ``draws_moves`` (else
    always to the most probable cohort), ``measures_noise``, ``mirrors_draws``, ``sequential`` (the
    list is chosen place by place). Learned: ``noise_variance`` (squared error of a prediction),
    ``move_rate`` (share of reassignments that moved a user), ``n_lists``, ``n_cohorts``,
    ``n_users``, ``n_assigned`` (users with a cohort), ``last_model`` (ever used), ``n_drawn``.
    """

    ridge: models.Ridge
    root: Floats
    root_count: Ints
    prior: Floats
    prior_log_det: Floats
    size: Ints
    head: Ints
    split_due: Ints
    gram: Floats
    moment: Floats
    count: Ints
    label: Ints
    due: Ints
    after: Ints
    before: Ints
    error: Floats
    predictor: Ints
    explore: float
    within_variance: float
    between_variance: float
    mean_widening: float
    logistic: bool
    draws_moves: bool
    measures_noise: bool
    mirrors_draws: bool
    sequential: bool
    noise_variance: float
    move_rate: float
    n_lists: int
    n_cohorts: int
    n_users: int
    last_model: int
    n_assigned: int
    n_drawn: int
    draw_key: np.uint64
    move_key: np.uint64
    list_gram: Floats
    list_moment: Floats
    residual_work: Floats
    product_work: Floats
    mean_work: Floats
    deviation_work: Floats
    factor_work: Floats
    matrix_work: Floats
    inverse_work: Floats
    precision_work: Floats
    split_user: Ints
    split_side: Ints
    candidate_work: Ints
