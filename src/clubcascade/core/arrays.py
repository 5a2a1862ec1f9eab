"""Names for the kinds of arrays that go around."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]
