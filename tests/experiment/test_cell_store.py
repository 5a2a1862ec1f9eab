from __future__ import annotations

import numpy as np
import pytest

from clubcascade.errors import ClubCascadeError
from clubcascade.experiment.cell_store import (
    CURVES,
    CellStore,
    path_of,
    read_cell,
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
