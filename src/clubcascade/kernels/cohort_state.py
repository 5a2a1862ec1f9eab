"""The compiled state of CohortCascade."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ridge as models
from clubcascade.kernels.item_memory import Recalled
from clubcascade.kernels.jit import Struct, struct


@struct
class Cohort(Struct):
    """Everyone, cohorts, users.

    ``ridge``: model 0 is everyone's, the others are cohorts'. Per model: ``root`` (factor of M),
    ``prior`` and ``prior_log_det`` (A^-1 and ln det A of a user's weights around its mean),
    ``root_count`` (count when mean and factor were computed), ``stale`` (whether A^-1 and M^-1 are
    older), ``size`` (users), ``head`` (one of them), ``split_due`` (count at which a split is
    tried). Per user: ``gram`` (S), ``moment``
    (b), ``count`` (n, the observations), ``label`` (its cohort, 0 before it has one), ``due``
    (count at which it is reassigned), ``after`` and ``before`` (the ring of the cohort's users),
    ``lists`` (that it was shown).
    Per power of two of the count: ``error`` (squared error of every predictor and, in the last
    column, the observations that it is of), ``mixture_error`` (that of the cohort's mean, and of
    the mean under the posterior over cohorts) and ``predictor``, the selected one. Arrays that
    end in ``work``, ``list_gram``, ``list_moment`` and those of a split are scratch;
    ``expected_work`` holds the posterior mean of the user ``expected_for`` (-1: of nobody), while a
    list is learned; ``nothing_recalled`` says that a user has met none of the ranked items.

    Scalars. Of the model: ``explore`` (scale of the draws), ``within_variance`` (of users around a
    cohort), ``between_variance`` (of cohorts around everyone), ``mean_widening`` (how much wider
    prior means are drawn), ``logistic`` (link), ``half_life`` (lists of a user after which its
    observations count half; 0: never). Switches of the ablation: ``draws_moves`` (else
    always to the most probable cohort), ``measures_noise``, ``mirrors_draws``, ``sequential`` (the
    list is chosen position by position). Learned: ``noise_variance`` (squared error of a
    prediction), ``item_share`` (of the unexplained that stays with a user and an item, see
    ``item_memory``), ``move_rate`` (share of reassignments that moved a user), ``n_lists``,
    ``promised`` and ``answered`` (clicks that were expected of the items examined since a warm
    start, and that came; ``promised`` is -1 if there is nothing to calibrate), ``n_cohorts``,
    ``n_users``, ``n_assigned`` (users with a cohort), ``last_model`` (ever used), ``n_drawn``.
    """

    ridge: models.Ridge
    root: Floats
    root_count: Ints
    stale: Any
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
    lists: Ints
    error: Floats
    mixture_error: Floats
    predictor: Ints
    explore: float
    within_variance: float
    between_variance: float
    mean_widening: float
    logistic: bool
    half_life: int
    draws_moves: bool
    measures_noise: bool
    mirrors_draws: bool
    sequential: bool
    noise_variance: float
    item_share: float
    move_rate: float
    promised: float
    answered: float
    n_lists: int
    n_cohorts: int
    n_users: int
    last_model: int
    n_assigned: int
    n_drawn: int
    expected_for: int
    draw_key: np.uint64
    move_key: np.uint64
    list_gram: Floats
    list_moment: Floats
    residual_work: Floats
    product_work: Floats
    mean_work: Floats
    deviation_work: Floats
    prior_work: Floats
    expected_work: Floats
    factor_work: Floats
    matrix_work: Floats
    inverse_work: Floats
    precision_work: Floats
    split_user: Ints
    split_side: Ints
    candidate_work: Ints
    nothing_recalled: Recalled
