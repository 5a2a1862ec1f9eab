"""Every environment and click model x every promise."""

import numpy as np
import pytest

from clubcascade.checks import CLICK_MODEL_CHECKS, ENVIRONMENT_CHECKS
from clubcascade.click import DCM, Cascade
from clubcascade.environments import Matrix, Synthetic

SIZES = {"n_users": 6, "n_clusters": 3, "n_items": 20, "n_features": 5, "seed": 3}
ENVIRONMENTS = {
    "orthogonal": lambda: Synthetic(**SIZES),
    "near": lambda: Synthetic(**SIZES, gap=0.2),
    "fresh": lambda: Synthetic(**SIZES, items="fresh"),
    "weighted": lambda: Synthetic(**SIZES, arrivals=[1, 2, 3, 0, 1, 5]),
    "dcm": lambda: Synthetic(**SIZES, click=DCM([0.9, 0.5, 0.1])),
    "logistic": lambda: Synthetic(**SIZES, link="logistic", scale=3.0),
    "probit": lambda: Synthetic(**SIZES, items="fresh", link="probit"),
    "matrix": lambda: Matrix(np.random.default_rng(1).random((4, 7)), np.eye(7)),
    "replay": lambda: Matrix(np.random.default_rng(1).random((4, 7)) < 0.3, np.zeros((7, 2))),
}


@pytest.mark.parametrize("check", ENVIRONMENT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment_promise(name, check):
    check(ENVIRONMENTS[name]())


@pytest.mark.parametrize("check", CLICK_MODEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", [Cascade(), DCM(0.5), DCM([1.0, 0.3])], ids=repr)
def test_click_model_promise(model, check):
    check(model)
