"""The first compile is announced, once, and a warm process is silent."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled
PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s %(message)s")
import numpy as np
from clubcascade.kernels import linear, counter_rng
linear.dot(np.zeros(2), np.zeros(2))
counter_rng.mix(np.uint64(1))
"""


def run(folder):
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True
    )


def test_compiling_is_announced_once_and_not_when_warm(tmp_path):
    cold, warm = run(tmp_path), run(tmp_path)
    assert cold.stdout.count("compiling") == 1
    assert cold.stdout.startswith("clubcascade ")
    assert cold.stderr == ""  # not a terminal: nothing is printed
    assert warm.stdout == ""
