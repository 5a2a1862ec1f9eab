"""Seeds of policies: one whole number gives the key of each stream of random numbers."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt


def key_of(seed: int, stream: str) -> npt.NDArray[np.uint64]:
    """Return the key of a named stream, as the one-entry array that the kernels take."""
    source = np.random.SeedSequence([seed, zlib.crc32(stream.encode())])
    return np.asarray(source.generate_state(1, np.uint64), dtype=np.uint64)
