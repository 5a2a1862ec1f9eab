"""First contact: import, the first calls of a new machine, the first calls of a later process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.engine.clock import SEED, K
from benchmarks.engine.process import ONE_THREAD, Answer, Job, Part, ask
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import paper_world
from clubcascade.core import Catalog
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.simulation import simulate


def imports(repeats: int) -> Answer:
    """Measure the import of all policies in new processes, the median of several."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def median(module: str) -> float:
        command = [sys.executable, "-c", code.format(module)]
        answers = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for _ in range(repeats)
        ]
        return statistics.median(map(float, answers))

    numba, whole = median("numba"), median("clubcascade.policies")
    return {
        "rows": [
            verdict("import clubcascade.policies", whole, 1.0),
            {"what": "of which numba and NumPy alone", "seconds": numba},
        ]
    }


def first_calls() -> Answer:
    """Time the first calls of the default path in this process."""
    started = time.perf_counter()
    items = np.eye(4)
    catalog = Catalog(items)
    policy = ClubCascade(n_features=4)
    for shown in (items, catalog):
        policy.update("one", shown[policy.recommend("one", shown, K)], 1)
    library = time.perf_counter() - started
    env = paper_world(5, 20, 5)
    simulate(ClubCascade(n_features=5, users=range(5)), env, rounds=10, k=K, seed=SEED)
    return {"library": library, "whole": time.perf_counter() - started}


def compiles() -> Answer:
    """Time the first calls with an empty cache on disk, then in a second process."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**ONE_THREAD, "NUMBA_CACHE_DIR": folder}
        cold = ask(Job("first calls", first_calls, settings=settings))
        warm = ask(Job("first calls", first_calls, settings=settings))
    return {
        "rows": [
            verdict("first recommend, update and simulate ever (compiles)", cold["whole"], 30.0),
            {"what": "of which recommend and update", "seconds": cold["library"]},
            {"what": "the same in a later process (from the cache)", "seconds": warm["whole"]},
        ]
    }


def verdict(what: str, seconds: float, limit: float) -> Answer:
    """Return a row with its limit."""
    word = "met" if seconds < limit else "not met"
    return {"what": what, "seconds": seconds, "target": f"< {limit:g}", "met": word}


def jobs(quick: bool) -> list[Job]:
    """Import, and compile; a quick look only imports."""
    found = [Job("import", imports, {"repeats": 3 if quick else 7})]
    return found if quick else [*found, Job("compile", compiles)]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Return the seconds of first contact."""
    return ResultTable(
        "start",
        "First contact (seconds)",
        "New processes; compiled code is cached on disk, so the first calls compile once per "
        "machine and version.",
        (
            Column("what", "what"),
            Column("seconds", "seconds", 2),
            Column("target", "target"),
            Column("met", ""),
        ),
        tuple(row for answer in answers for row in answer["rows"]),
    )


PART = Part("start", jobs, table)
