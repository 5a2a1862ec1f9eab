"""The cache: found by the next process, and never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import IndexDataCacheFile

import clubcascade
from clubcascade.kernels import jit, linear

pytestmark = pytest.mark.compiled
PROGRAM = """
import numpy as np
from clubcascade.kernels.ridge import observe
from clubcascade.learners.models import Models
models = Models(2, 1.0, capacity=1)
models.clear(0)
observe(models.struct, 0, np.array([1.0, 0.0]), 1.0)
print(sum(observe.stats.cache_hits.values()), sum(observe.stats.cache_misses.values()))
print(models.arrays["gram"][0, 0, 0])
"""


def copy_to(folder):
    shutil.copytree(
        Path(clubcascade.__file__).parent,
        folder / "clubcascade",
        ignore=shutil.ignore_patterns("__pycache__"),
    )


def run(folder):
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_second_process_starts_warm_and_an_edit_is_seen(tmp_path):
    copy_to(tmp_path)
    assert run(tmp_path) == ["0", "1", "1.0"]
    assert run(tmp_path) == ["1", "0", "1.0"]
    # `ridge.observe` calls `linear.add_outer`, in another file: numba alone would not notice
    source = tmp_path / "clubcascade" / "kernels" / "linear.py"
    text = source.read_text()
    line = "row[g] += step * x[g]"
    assert line in text
    source.write_text(text.replace(line, "row[g] += 2.0 * step * x[g]"))
    assert run(tmp_path) == ["0", "1", "2.0"]


def test_what_an_earlier_release_left_behind_does_no_harm(tmp_path):
    """Its types may have other names by now."""
    copy_to(tmp_path)
    assert run(tmp_path) == ["0", "1", "1.0"]
    for source in tmp_path.rglob("*.py"):
        source.write_text(source.read_text().replace("{name}Type", "{name}Kind"))
    assert run(tmp_path) == ["0", "1", "1.0"]


def test_every_kernel_carries_the_stamp():
    assert linear.dot._cache._cache_file._source_stamp == jit.SOURCES


@jit.kernel
def twice(number):
    return 2 * number


@jit.kernel
def doubled(times):
    total = 1
    for _ in range(times):
        total = twice(total)
    return total


def test_a_start_at_a_literal_is_not_compiled_for_itself():
    assert doubled(5) == 32
    doubled.recompile()  # an earlier run may have left it in the cache
    assert len(twice.inner.signatures) == 1


def test_what_kernels_call_is_not_compiled_on_its_own():
    """Most of the time of a first call was machine code for kernels that only kernels call."""
    doubled.recompile()
    assert twice.inner.signatures and not twice.signatures
    assert twice(4) == 8  # from Python it is compiled when it is called
    assert len(twice.signatures) == 1


def cache_file(folder):
    file = IndexDataCacheFile(str(folder), "loop.run-1", jit.SOURCES)
    file._data_name_pattern = jit._DataNames(Path(file._index_path))
    return file


def test_processes_that_save_at_once_never_take_each_others_code(tmp_path):
    """Both have read the index before either wrote it; the slower one writes its code last."""
    (tmp_path / "loop.run-1.1.nbc").write_bytes(b"code of an earlier release")
    first, second = cache_file(tmp_path), cache_file(tmp_path)
    write, written = first._save_data, []
    first._save_data = lambda *data: written.append(data)
    first.save("one policy", "its code")
    second._load_index = dict
    second.save("another policy", "other code")
    write(*written[0])
    third = cache_file(tmp_path)
    assert third.load("another policy") == "other code"
    assert third.load("one policy") in (None, "its code")
    assert not (tmp_path / "loop.run-1.1.nbc").exists()


def test_a_process_killed_before_its_code_is_written_leaves_nothing_to_run(tmp_path):
    (tmp_path / "loop.run-1.1.nbc").write_bytes(b"code of an earlier release")
    file = cache_file(tmp_path)
    file._save_data = lambda name, data: None
    file.save("a policy", "its code")
    assert file.load("a policy") is None
