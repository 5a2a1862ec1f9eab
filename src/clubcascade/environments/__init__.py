"""Environments: arrivals, items, feedback, and expected rewards."""

from typing import Any

from clubcascade.environments.changes import Changes
from clubcascade.environments.matrix import Matrix
from clubcascade.environments.niche import Niche
from clubcascade.environments.oracle import Oracle
from clubcascade.environments.pool import Pool
from clubcascade.environments.synthetic import Synthetic
from clubcascade.environments.tabular import TabularEnvironment

ENVIRONMENTS: dict[str, type[Any]] = {
    "synthetic": Synthetic,
    "matrix": Matrix,
    "pool": Pool,
    "niche": Niche,
}
"""Every environment by its name."""

__all__ = [
    "ENVIRONMENTS",
    "Changes",
    "Matrix",
    "Niche",
    "Oracle",
    "Pool",
    "Synthetic",
    "TabularEnvironment",
]
