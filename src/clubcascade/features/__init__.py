"""Features of items: from a table of clicks, from a table of items, or from both.

Needs the extra ``features`` (scikit-learn, polars).
"""

from __future__ import annotations

from clubcascade.errors import MissingExtra

try:
    import polars as _polars  # noqa: F401
    import sklearn as _sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra(
        f'features need {error.name}: pip install "clubcascade[features]"'
    ) from error

from clubcascade.features.base import FeatureMaker, load
from clubcascade.features.clicks import ClickFeatures, from_clicks
from clubcascade.features.combined import CombinedFeatures, combine
from clubcascade.features.log import ClickLog, read_log
from clubcascade.features.table import TableFeatures, from_table

__all__ = [
    "ClickFeatures",
    "ClickLog",
    "CombinedFeatures",
    "FeatureMaker",
    "TableFeatures",
    "combine",
    "from_clicks",
    "from_table",
    "load",
    "read_log",
]
