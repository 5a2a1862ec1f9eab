"""Arrays that grow where they are, and take no memory that nobody has written."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from clubcascade.core import paged_arrays
from clubcascade.core.paged_arrays import MAPPED, aligned_zeros, copy_written, grown, written_rows
from clubcascade.errors import ClubCascadeError, NotEnoughMemory
from tests.memory import resident

ROWS = MAPPED // 8
mapped = pytest.mark.skipif(not paged_arrays._has_addresses(), reason="addresses are not free here")


@pytest.mark.parametrize("rows", [5, ROWS])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint64])
def test_rows_are_kept_and_zeros_follow(rows, dtype):
    array = grown(None, rows, 3, dtype=dtype)
    array[:] = np.arange(3 * rows).reshape(rows, 3)
    more = grown(array, 2 * rows, 3)
    assert more.dtype == dtype and more.shape == (2 * rows, 3) and more.flags.c_contiguous
    assert more.ctypes.data % 64 == 0
    np.testing.assert_array_equal(more[:rows], np.arange(3 * rows).reshape(rows, 3))
    assert not more[rows:].any()


@mapped
def test_a_large_array_grows_where_it_is():
    array = grown(None, ROWS)
    assert np.shares_memory(grown(array, 100 * ROWS), array)
    assert not np.shares_memory(grown(grown(None, 8), 100), array)


@mapped
def test_growth_touches_nothing():
    before = resident()
    array = grown(None, 10_000_000, 20, 20)  # 32 GB
    array[::1_000_000] = 1.0
    array = grown(array, 20_000_000, 20, 20)
    copy = written_rows(array, np.arange(0, 10_000_000, 1_000_000))
    assert resident() - before < 2**24
    assert copy[::1_000_000].sum() == array[::1_000_000].sum() == 4000.0


@mapped
def test_addresses_are_given_back():
    gc.collect()
    before = paged_arrays._reserved
    array = grown(None, ROWS)
    assert paged_arrays._reserved == before + paged_arrays.RESERVED
    del array
    assert paged_arrays._reserved == before


def test_without_addresses_only_what_was_written_is_copied(monkeypatch):
    monkeypatch.setattr(paged_arrays, "_has_addresses", lambda: False)
    array = grown(None, 64 * ROWS)
    array[[0, 40 * ROWS]] = 1.0, 2.0
    before = resident()
    more = grown(array, 128 * ROWS)
    assert resident() - before < 2**24
    assert more[0] == 1.0 and more[40 * ROWS] == 2.0 and more.sum() == 3.0


def test_when_too_many_addresses_are_taken_arrays_are_copied(monkeypatch):
    monkeypatch.setattr(paged_arrays, "_reserved", paged_arrays.MOST_RESERVED)
    array = grown(None, ROWS)
    array[7] = 1.0
    more = grown(array, 2 * ROWS)
    assert more[7] == 1.0 and not np.shares_memory(more, array)


def test_zeros_are_written_where_there_is_something():
    target, source = np.ones((ROWS, 2)), np.zeros((ROWS, 2))
    source[3] = 2.0
    copy_written(target, source)
    np.testing.assert_array_equal(target, source)


def test_what_does_not_fit_is_refused_in_a_sentence():
    with pytest.raises(NotEnoughMemory, match="got 1099511627776: one of .* 8589934592.0 GiB"):
        aligned_zeros(2**40, 2**20)
    assert issubclass(NotEnoughMemory, ClubCascadeError) and issubclass(
        NotEnoughMemory, MemoryError
    )
