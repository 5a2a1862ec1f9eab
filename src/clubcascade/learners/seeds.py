"""Seeds of policies: one whole number gives the key of each stream of random numbers."""

import zlib

import numpy as np


def key_of(seed: int, stream: str) -> np.uint64:
    """Return the key of a named stream of random numbers."""
    source = np.random.SeedSequence([seed, zlib.crc32(stream.encode())])
    return np.uint64(source.generate_state(1, np.uint64)[0])
