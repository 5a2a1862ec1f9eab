"""Every environment and click model x every promise."""

import numpy as np
import pytest

from clubcascade.checks import CLICK_MODEL_CHECKS, ENVIRONMENT_CHECKS
from clubcascade.click import DCM, Cascade
from clubcascade.environments import Matrix, Niche, Pool, Synthetic

SIZES = {"n_users": 6, "n_clusters": 3, "n_items": 20, "n_features": 5, "seed": 3}
ENVIRONMENTS = {
    "orthogonal": lambda: Synthetic(**SIZES),
    "near": lambda: Synthetic(**SIZES, gap=0.2),
    "fresh": lambda: Synthetic(**SIZES, items="fresh"),
    "weighted": lambda: Synthetic(**SIZES, arrivals=[1, 2, 3, 0, 1, 5]),
    "dcm": lambda: Synthetic(**SIZES, click=DCM([0.9, 0.5, 0.1])),
    "zipf": lambda: Synthetic(**SIZES, arrivals="zipf"),
    "discounted": lambda: Synthetic(**SIZES, click=Cascade(discounts=[1.0, 0.6])),
    "niche": lambda: Niche(n_users=6, n_clusters=3, n_items=20, n_features=8, seed=3),
    "logistic": lambda: Synthetic(**SIZES, link="logistic", scale=3.0),
    "probit": lambda: Synthetic(**SIZES, items="fresh", link="probit"),
    "matrix": lambda: Matrix(np.random.default_rng(1).random((4, 7)), np.eye(7)),
    "replay": lambda: Matrix(np.random.default_rng(1).random((4, 7)) < 0.3, np.zeros((7, 2))),
    "pool": lambda: Pool(
        np.random.default_rng(1).random((20, 9)) < 0.3, n_users=8, n_items=7, history=5
    ),
}


@pytest.mark.parametrize("check", ENVIRONMENT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment_promise(name, check):
    check(ENVIRONMENTS[name]())


@pytest.mark.parametrize("check", CLICK_MODEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "model", [Cascade(), DCM(0.5), DCM([1.0, 0.3]), DCM(0.7, discounts=[1.0, 0.5])], ids=repr
)
def test_click_model_promise(model, check):
    check(model)
