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
    from clubcascade.experiment.config import read_experiment, shipped
    from clubcascade.experiment.data import data_names, runnable
    from clubcascade.experiment.progress import Step
    from clubcascade.experiment.results import Results, read_results, summarise
    from clubcascade.experiment.runner import RunReport, run_experiment, run_experiments
    from clubcascade.experiment.schema import Experiment

__all__ = [
    "Experiment",
    "Results",
    "RunReport",
    "Step",
    "data_names",
    "read_experiment",
    "read_results",
    "run_experiment",
    "run_experiments",
    "runnable",
    "shipped",
    "summarise",
]

__getattr__ = doors(
    __name__,
    {
        "Experiment": "schema",
        "Results": "results",
        "RunReport": "runner",
        "Step": "progress",
        "data_names": "data",
        "read_experiment": "config",
        "read_results": "results",
        "run_experiment": "runner",
        "run_experiments": "runner",
        "runnable": "data",
        "shipped": "config",
        "summarise": "results",
    },
)
