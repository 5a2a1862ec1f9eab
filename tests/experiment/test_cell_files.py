from __future__ import annotations

import errno

import numpy as np
import pytest

from clubcascade.errors import ClubCascadeError
from clubcascade.experiment.cell_files import (
    CURVES,
    curves_of,
    path_of,
    remove_leftovers,
    run_packed,
    store,
    stored,
    written,
)
from clubcascade.experiment.cells import plan
from clubcascade.simulation import Trace
from tests.experiment import tiny


@pytest.fixture
def cell():
    return plan(tiny.experiment())[0]


def keep(cell, folder):
    store(cell, run_packed((cell, cell.key)), folder)


def test_a_stored_run_is_read_back(cell, tmp_path):
    assert stored(cell, tmp_path) is None
    keep(cell, tmp_path)
    found = stored(cell, tmp_path)
    assert set(found.curves) == set(CURVES)
    assert found.curves["round"].tolist() == list(range(3, 61, 3))
    assert found.seconds >= 0 and 0 < found.ceiling <= 1
    assert found.origin["packages"]["clubcascade"] and found.origin["finished"]
    assert [file.name for file in tmp_path.iterdir()] == [f"{cell.key}.npz"]


def test_a_worker_of_another_version_refuses(cell):
    with pytest.raises(ClubCascadeError, match="another version of clubcascade"):
        run_packed((cell, "another key"))


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
    keep(cell, tmp_path)
    path = path_of(cell, tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert stored(cell, tmp_path) is None


def test_a_file_of_another_cell_or_format_counts_as_missing(cell, tmp_path):
    other = plan(tiny.experiment())[1]
    keep(other, tmp_path)
    path_of(other, tmp_path).rename(path_of(cell, tmp_path))
    assert stored(cell, tmp_path) is None
    rest = '"seconds": 1, "ceiling": 1, "origin": {}'
    label = np.array(f'{{"format": 99, "key": "{cell.key}", {rest}}}')
    curves = dict.fromkeys(CURVES, np.array([60.0]))
    np.savez(path_of(cell, tmp_path), label=label, **curves)
    assert stored(cell, tmp_path) is None


def test_what_is_not_known_is_kept_as_nan():
    counts = np.arange(1, 4)
    curves = curves_of(Trace(counts, 1.0 * counts, None, counts, None, 0.0))
    assert curves["reward"].tolist() == [1, 2, 3]
    assert np.isnan(curves["regret"]).all() and np.isnan(curves["rand_index"]).all()


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
