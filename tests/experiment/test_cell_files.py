from __future__ import annotations

import errno

import numpy as np
import pytest

from clubcascade.experiment.cell_files import (
    CURVES,
    path_of,
    remove_leftovers,
    run_and_store,
    stored,
    thinned,
    written,
)
from clubcascade.experiment.cells import plan
from clubcascade.simulation import Trace
from tests.experiment import tiny


@pytest.fixture
def cell():
    return plan(tiny.experiment())[0]


def test_a_stored_run_is_read_back(cell, tmp_path):
    assert stored(cell, tmp_path) is None
    seconds = run_and_store(cell, tmp_path)
    assert seconds >= 0
    curves = stored(cell, tmp_path)
    assert set(curves) == set(CURVES)
    assert curves["round"].tolist() == list(range(3, 61, 3))
    assert [file.name for file in tmp_path.iterdir()] == [f"{cell.key}.npz"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:200] + bytes(20) + data[220:],
        lambda data: b"something else",
    ],
    ids=["empty", "cut short", "overwritten", "foreign"],
)
def test_a_damaged_file_counts_as_missing(cell, tmp_path, damage):
    run_and_store(cell, tmp_path)
    path = path_of(cell, tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert stored(cell, tmp_path) is None


def test_a_file_of_another_cell_or_format_counts_as_missing(cell, tmp_path):
    other = plan(tiny.experiment())[1]
    run_and_store(other, tmp_path)
    path_of(other, tmp_path).rename(path_of(cell, tmp_path))
    assert stored(cell, tmp_path) is None
    label = np.array(f'{{"format": 99, "key": "{cell.key}"}}')
    curves = dict.fromkeys(CURVES, np.array([60.0]))
    np.savez(path_of(cell, tmp_path), label=label, **curves)
    assert stored(cell, tmp_path) is None


def test_a_run_is_thinned_to_its_points():
    seldom = np.full(7, np.nan)
    seldom[[0, 3, 6]] = 0.1, 0.4, 0.7
    counts = np.arange(1, 8)
    curves = thinned(Trace(counts, 1.0 * counts, None, counts, seldom, 0.0), every=2)
    assert curves["round"].tolist() == curves["reward"].tolist() == [2, 4, 6, 7]
    assert np.isnan(curves["regret"]).all()
    np.testing.assert_array_equal(curves["rand_index"], [0.1, 0.4, np.nan, 0.7])


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), written(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match="No space left on device: .*file"), written(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_run_go(tmp_path):
    (tmp_path / "x.npz.7.tmp").touch()
    (tmp_path / "y.npz").touch()
    remove_leftovers(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["y.npz"]
