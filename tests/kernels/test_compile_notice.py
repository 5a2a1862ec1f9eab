"""The first compile is announced, once, and a warm process is silent."""

import os
import subprocess
import sys
import types
from types import SimpleNamespace

import pytest

from clubcascade.kernels import compile_notice

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


def test_what_is_waited_for_is_said_once_each(caplog):
    notice = compile_notice.CompileNotice()
    state = type("CohortType", (), {})()

    def event(function):
        return SimpleNamespace(
            data={"dispatcher": SimpleNamespace(py_func=function), "args": (state,)}
        )

    with caplog.at_level("INFO", "clubcascade"):
        for name in ("rank_catalog", "rank_items", "learn", "_make_Cohort", "other"):
            outer = types.FunctionType((lambda: None).__code__, {}, name)
            outer.__module__ = "clubcascade.kernels.entry_points"
            for step in (notice.on_start, notice.on_start, notice.on_end, notice.on_end):
                step(event(outer))
    said = [record.message for record in caplog.records]
    assert [text.split(" for ")[0] for text in said] == [
        "clubcascade: compiling ranking",
        "clubcascade: compiling learning",
    ]
    assert "about 12 s" in said[0] and "about 26 s" in said[1]
