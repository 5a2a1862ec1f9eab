"""From a table of clicks to a policy that has learned from it.

Needs the extra ``features`` (scikit-learn, polars).
"""

from __future__ import annotations

from clubcascade import features as _features  # noqa: F401  says which extra is missing
from clubcascade.training.bulk import ListDataset, learn_log
from clubcascade.training.items import ItemTable
from clubcascade.training.model import Trained
from clubcascade.training.run import train
from clubcascade.training.table import Row, WorthTable

load = Trained.load

__all__ = [
    "ItemTable",
    "ListDataset",
    "Row",
    "Trained",
    "WorthTable",
    "learn_log",
    "load",
    "train",
]
