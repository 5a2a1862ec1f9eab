"""Counter-based random numbers: a pure function of (key, round, place), without a state.

All policies of a paired run share them (common random numbers): the user of round t likes item 7 or
does not, whichever policy shows it and at whatever position. Mixing is SplitMix64 (Steele, Lea and
Flood, 2014), applied once per coordinate.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.kernels.jit import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MUL1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits."""
    word = np.uint64(word + _STEP)
    word = np.uint64((word ^ (word >> _S30)) * _MUL1)
    word = np.uint64((word ^ (word >> _S27)) * _MUL2)
    return np.uint64(word ^ (word >> _S31))


@kernel
def bits(key: np.uint64, t: int, place: int) -> np.uint64:
    """64 random bits of round ``t`` at ``place``."""
    return mix(np.uint64(mix(np.uint64(key ^ mix(np.uint64(t)))) + np.uint64(place)))


@kernel
def unit(word: np.uint64) -> float:
    """Return the 53 upper bits as a number in [0, 1)."""
    return float(word >> _S11) * (1.0 / 9007199254740992.0)


@kernel
def uniform(key: np.uint64, t: int, place: int) -> float:
    """Return a number in [0, 1)."""
    return unit(bits(key, t, place))


@kernel
def normal(key: np.uint64, t: int, place: int) -> float:
    """Return a standard normal number (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, t, 2 * place)))
    return radius * math.cos(2.0 * math.pi * uniform(key, t, 2 * place + 1))
