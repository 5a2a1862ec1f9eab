"""Data sets: files of ratings to 0/1 clicks of users on items, fetched, checked and kept.

A data set is prepared once (``clubcascade data``, or a function ``prepare_...`` of this room) and
found by its name from then on. Preparing needs Arrow (the extra ``experiments``), finding does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from clubcascade.errors import MissingExtra

if TYPE_CHECKING:
    from clubcascade.datasets.finding import find
    from clubcascade.datasets.interactions import Interactions
    from clubcascade.datasets.movielens import prepare_movielens
    from clubcascade.datasets.pools import prepare_pools
    from clubcascade.datasets.preparing import Prepared
    from clubcascade.datasets.ratings import prepare_interactions
    from clubcascade.datasets.store import data_folder, prepared
    from clubcascade.datasets.yelp import prepare_yelp

_MODULES = {
    "Interactions": "interactions",
    "Prepared": "preparing",
    "data_folder": "store",
    "find": "finding",
    "prepare_interactions": "ratings",
    "prepare_movielens": "movielens",
    "prepare_pools": "pools",
    "prepare_yelp": "yelp",
    "prepared": "store",
}

__all__ = [
    "Interactions",
    "Prepared",
    "data_folder",
    "find",
    "prepare_interactions",
    "prepare_movielens",
    "prepare_pools",
    "prepare_yelp",
    "prepared",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f'reading files of ratings needs {error.name}: pip install "clubcascade[experiments]"'
        ) from error
    return getattr(module, name)
