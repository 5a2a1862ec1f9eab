"""Experiments: a TOML file becomes cells, cells become a result folder.

::

    experiment = read_experiment("synthetic", quick=True)
    report = run_experiment(experiment, "results")
    results = read_results("results")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clubcascade.experiment.lazy import doors

if TYPE_CHECKING:
    from clubcascade.experiment.config import Experiment, read_experiment, shipped
    from clubcascade.experiment.results import Results, read_results, summarise
    from clubcascade.experiment.runner import COMPILING, RunReport, run_experiment

__all__ = [
    "COMPILING",
    "Experiment",
    "Results",
    "RunReport",
    "read_experiment",
    "read_results",
    "run_experiment",
    "shipped",
    "summarise",
]

__getattr__ = doors(
    __name__,
    {
        "COMPILING": "runner",
        "Experiment": "config",
        "Results": "results",
        "RunReport": "runner",
        "read_experiment": "config",
        "read_results": "results",
        "run_experiment": "runner",
        "shipped": "config",
        "summarise": "results",
    },
)
