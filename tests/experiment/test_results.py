from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cells import plan
from clubcascade.experiment.results import COLUMNS, gather, read_results, summarise, write_results
from clubcascade.experiment.running import run
from tests.experiment import tiny


def found(cells):
    return [(cell, run(cell)) for cell in cells]


def test_results_are_gathered_in_the_order_of_the_cells(tmp_path):
    frame = gather(found(plan(tiny.experiment())))
    assert tuple(frame.columns) == COLUMNS
    assert frame.drop_duplicates(["policy", "seed"])["seed"].tolist() == [0, 1, 0, 1]
    assert frame["policy"].iloc[0] == "CLUB"
    assert frame.groupby(["panel", "seed"])["ceiling"].nunique().tolist() == [1, 1]
    assert (frame["seconds"] > 0).all()


def test_sums_over_first_lists_are_a_table_of_their_own(tmp_path):
    changes = {"at": 0.5, "users": "new"}
    experiment = tiny.experiment(panels=[tiny.panel(changes=changes)], rounds=300)
    cells = found(plan(experiment))
    write_results(experiment, cells, tmp_path)
    results = read_results(tmp_path)
    visits = results.visits
    assert list(visits) == ["panel", "policy", "seed", "phase", "lists", "regret", "rounds"]
    assert len(visits) == 2 * 2 * 2 * 5  # policies, seeds, phases, numbers of lists
    whole = visits[visits["lists"] == np.inf].groupby(["policy", "seed"])
    assert (whole["rounds"].sum() == 300).all()
    last = results.curves[results.curves["round"] == 300].set_index(["policy", "seed"])
    assert whole["regret"].sum().to_dict() == pytest.approx(last["regret"].to_dict())
    newcomers = visits[(visits["phase"] == 1) & (visits["policy"] == "CLUB")]
    early = newcomers[newcomers["seed"] == 0].set_index("lists")["rounds"]
    assert early.loc[[1, 5, 20]].tolist() == [3, 15, 60]
    (cell, result), *_ = cells
    assert early[100] == result.sums["visit_rounds"][1, :4].sum()


def test_no_results_are_an_empty_table(tmp_path):
    experiment = tiny.experiment()
    assert tuple(gather([]).columns) == COLUMNS
    write_results(experiment, [], tmp_path)
    assert read_results(tmp_path).curves.empty
    assert read_results(tmp_path).visits.empty
    (tmp_path / "visits.csv").unlink()  # a folder of an earlier version
    assert read_results(tmp_path).visits.empty


def test_the_parquet_file_carries_configuration_and_provenance(tmp_path):
    experiment = tiny.experiment()
    write_results(experiment, found(plan(experiment)), tmp_path)
    about = pq.read_schema(tmp_path / "results.parquet").metadata
    assert about[b"clubcascade.config"].decode() == (tmp_path / "config.toml").read_text()
    origin = json.loads(about[b"clubcascade.provenance"])
    assert origin == read_results(tmp_path).provenance
    assert origin["seeds"] == [0, 1] and origin["runs"]["count"] == 4
    (maker,) = origin["runs"]["made_by"]
    for key in ("commit", "sources", "python", "packages", "platform", "processor", "cores"):
        assert key in maker and key in origin


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
