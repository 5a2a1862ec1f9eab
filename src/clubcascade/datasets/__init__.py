"""Data sets: files of ratings to 0/1 clicks of users on items, fetched, checked and kept.

A data set is prepared once (``clubcascade data``) and found by its name from then on.
"""

from __future__ import annotations

from clubcascade.datasets.finding import find
from clubcascade.datasets.folder import data_folder, prepared
from clubcascade.datasets.interactions import Interactions

__all__ = ["Interactions", "data_folder", "find", "prepared"]
