"""Experiments: a TOML file becomes cells, cells become a result folder.

::

    experiment = read_experiment("synthetic", quick=True)
    report = run_experiment(experiment, "results")
    results = read_results("results")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clubcascade.experiment.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from clubcascade.experiment.config import read_experiment
    from clubcascade.experiment.data import data_names, runnable
    from clubcascade.experiment.files import shipped
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

_MODULES = {
    "config": ("read_experiment",),
    "data": ("data_names", "runnable"),
    "files": ("shipped",),
    "progress": ("Step",),
    "results": ("Results", "read_results", "summarise"),
    "runner": ("RunReport", "run_experiment", "run_experiments"),
    "schema": ("Experiment",),
}
__getattr__ = lazy_attributes(__name__, _MODULES)
