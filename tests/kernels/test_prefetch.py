"""Asking for memory changes nothing and takes any row, the first and the last."""

import numpy as np
import pytest

from clubcascade.kernels import prefetch


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 20), (2, 5, 5), (4, 1)])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_fetch_row_leaves_every_array_as_it_is(shape, kind):
    array = np.arange(np.prod(shape), dtype=kind).reshape(shape)
    before = array.copy()
    for row in range(len(array)):
        prefetch.prefetch_row(array, row)
    np.testing.assert_array_equal(array, before)
