from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cell_files import run_and_store
from clubcascade.experiment.cells import plan
from clubcascade.experiment.results import gather, read_results, summarise, write_results
from tests.experiment import tiny


def test_results_are_gathered_in_the_order_of_the_cells(tmp_path):
    cells = plan(tiny.experiment())
    for cell in reversed(cells):
        run_and_store(cell, tmp_path)
    frame = gather(cells, tmp_path)
    assert frame.drop_duplicates(["policy", "seed"])["seed"].tolist() == [0, 1, 0, 1]
    assert frame["policy"].iloc[0] == "CLUB"


def test_no_results_are_an_empty_table(tmp_path):
    experiment = tiny.experiment()
    frame = gather(plan(experiment), tmp_path)
    assert frame.empty and "regret" in frame.columns
    write_results(experiment, frame, tmp_path)
    assert read_results(tmp_path).curves.empty


def test_one_run_has_no_interval():
    frame = pd.DataFrame({"panel": "p", "policy": "q", "seed": 0, "round": [1, 2]})
    frame = frame.assign(reward=[0, 1], regret=np.nan, n_clusters=1, rand_index=1.0)
    summary = summarise(frame)
    assert summary.loc[0, "reward_mean"] == 1
    assert np.isnan(summary.loc[0, "reward_low"]) and np.isnan(summary.loc[0, "regret_mean"])


def test_another_folder_is_no_result_folder(tmp_path):
    with pytest.raises(
        InvalidArgument, match=r"is not a result folder: it has no results\.parquet"
    ):
        read_results(tmp_path)
