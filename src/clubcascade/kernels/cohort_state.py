"""The compiled state of CohortCascade."""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, kernel, struct


class CohortType(StructType):
    """Type of :class:`Cohort`."""


@struct(CohortType)
class Cohort(Struct):
    """Everyone, cohorts, users.

    ``ridge``: model 0 is everyone's, the others are cohorts'. Per model: ``root`` (factor of its
    matrix), ``prior`` and ``prior_log_det`` (precision of a user's weights around it),
    ``root_count`` (count when these, weights and inverse were computed), ``size`` (users), ``head``
    (one of them), ``split_due`` (count at which a split is tried). Per user: ``gram``, ``moment``,
    ``count``, ``label`` (its cohort, 0 before it has one), ``due`` (count at which its cohort is
    reviewed), ``after`` and ``before`` (the ring of the cohort's users). Per power of two of the
    count: ``error`` of every way with, in the last column, the looks that it is of, and ``way``,
    the one in use. ``noise`` = [squared error of a prediction, share of reviews that moved a user];
    ``rule`` = [scale of the draws, variance of users around a cohort, of cohorts around everyone,
    how much wider centres are drawn, 1 to draw moves (0: always to the most probable cohort), 1 to
    measure the noise (0: it stays), 1 for the logistic link, 1 to mirror draws, 1 to choose place
    by place]; ``tally`` = [lists learned, cohorts, users, the last model ever used, users with a
    cohort]; ``draws`` = [lists drawn]; ``keys`` = keys of the draws and of the reviews; the rest is
    scratch.
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
    way: Ints
    noise: Floats
    rule: Floats
    tally: Ints
    draws: Ints
    keys: Words
    vectors: Floats
    matrices: Floats
    asked: Ints


@kernel
def make(*fields: Any) -> Cohort:
    """Bind arrays into one structure that the kernels take."""
    return Cohort(*fields)
