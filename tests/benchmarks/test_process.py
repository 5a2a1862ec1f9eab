from __future__ import annotations

import pytest

from benchmarks.engine import growth
from benchmarks.engine.machine import machine
from benchmarks.engine.process import Job, ask, now_mb, peak_mb
from clubcascade.errors import ClubCascadeError


def test_a_process_answers_with_its_peak_of_memory():
    answer = ask(Job("", growth.features, {"n_features": 2, "rounds": 100, "repeats": 1}))
    assert answer["n_features"] == 2
    assert answer["peak_mb"] > 10


def test_a_failed_measurement_is_one_of_our_errors():
    with pytest.raises(ClubCascadeError, match="growth:features failed: .*n_features"):
        ask(Job("", growth.features, {"n_features": 0, "rounds": 100, "repeats": 1}))


def test_memory_is_seen():
    before = now_mb()
    kept = bytearray(40 * 2**20)
    kept[::4096] = b"x" * len(kept[::4096])
    if before is not None:
        assert now_mb() > before + 30
        assert peak_mb() >= now_mb() - 1


def test_the_machine_is_described():
    found = machine()
    assert found["cores"] >= 1 and found["processor"]
    assert set(found["packages"]) == {"clubcascade", "numpy", "numba", "scipy"}
