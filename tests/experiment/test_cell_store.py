from __future__ import annotations

import errno
import os
import time

import numpy as np
import pytest

from clubcascade.errors import ClubCascadeError
from clubcascade.experiment.cell_store import (
    CURVES,
    CellStore,
    atomic_write,
    path_of,
    read_cell,
    remove_leftovers,
    write_cell,
)
from clubcascade.experiment.cells import plan
from clubcascade.experiment.running import run, run_task
from tests.experiment import tiny


@pytest.fixture
def cell():
    return plan(tiny.experiment())[0]


def keep(cell, folder):
    write_cell(cell, run(cell), folder)


def test_a_stored_run_is_read_back(cell, tmp_path):
    assert read_cell(cell, tmp_path) is None
    keep(cell, tmp_path)
    found = read_cell(cell, tmp_path)
    assert set(found.curves) == set(CURVES)
    assert found.curves["round"].tolist() == list(range(3, 61, 3))
    assert found.seconds >= 0 and 0 < found.ceiling <= 1
    assert found.origin["packages"]["clubcascade"] and found.origin["finished"]
    assert [file.name for file in tmp_path.iterdir()] == [f"{cell.key}.npz"]


def test_a_worker_of_another_version_refuses(cell):
    with pytest.raises(ClubCascadeError, match="another version of clubcascade"):
        run_task((cell, "another key"))


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
    assert read_cell(cell, tmp_path) is None


def test_a_file_of_another_cell_or_format_counts_as_missing(cell, tmp_path):
    other = plan(tiny.experiment())[1]
    keep(other, tmp_path)
    path_of(other, tmp_path).rename(path_of(cell, tmp_path))
    assert read_cell(cell, tmp_path) is None
    rest = '"seconds": 1, "ceiling": 1, "origin": {}'
    label = np.array(f'{{"format": 99, "key": "{cell.key}", {rest}}}')
    curves = dict.fromkeys(CURVES, np.array([60.0]))
    np.savez(path_of(cell, tmp_path), label=label, **curves)
    assert read_cell(cell, tmp_path) is None


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match="No space left on device: .*file"), atomic_write(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_run_go_but_not_what_another_run_writes(tmp_path):
    for name in ("x.npz.7.tmp", "z.npz.8.tmp", "y.npz"):
        (tmp_path / name).touch()
    long_ago = time.time() - 3600
    os.utime(tmp_path / "x.npz.7.tmp", (long_ago, long_ago))
    remove_leftovers(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["y.npz", "z.npz.8.tmp"]


def test_a_result_is_kept_in_memory_and_copied_from_folders_beside(cell, tmp_path):
    first = CellStore(tmp_path / "one")
    assert first.find(cell) is None
    result = run(cell)
    first.add(cell, result)
    path_of(cell, first.place).write_bytes(b"not read again")
    assert first.find(cell) is result
    write_cell(cell, result, first.place)
    second = CellStore(tmp_path / "two", [tmp_path / "one", tmp_path / "two"])
    assert second.find(cell).origin == result.origin
    assert read_cell(cell, second.place) is not None
