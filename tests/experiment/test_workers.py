from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from clubcascade.experiment.workers import THREADS, ProcessWorkers, WorkerDied, cores

DEADLY, FAILING = 3, 5


def work(task: int) -> int:
    if task == DEADLY:
        os._exit(9)
    if task == FAILING:
        raise ValueError("five")
    return task * task


def threads(task: int) -> list[str | None]:
    return [os.environ.get(name) for name in THREADS]


def wait_long(done: str) -> None:
    time.sleep(300)
    Path(done).touch()


def fail() -> None:
    raise KeyError("first")


def test_a_failing_and_a_dying_task_do_not_lose_the_others():
    with ProcessWorkers(work, jobs=2) as workers:
        outcomes = dict(workers.outcomes(range(8)))
    assert isinstance(outcomes.pop(DEADLY), WorkerDied)
    assert isinstance(outcomes.pop(FAILING), ValueError)
    assert outcomes == {task: task * task for task in (0, 1, 2, 4, 6, 7)}


def test_workers_use_one_thread_and_the_parent_keeps_its_own():
    before = dict(os.environ)
    with ProcessWorkers(threads, jobs=1) as workers:
        ((_, seen),) = workers.outcomes([0])
    assert seen == ["1"] * len(THREADS)
    assert dict(os.environ) == before


def test_an_error_of_the_first_work_is_raised():
    with pytest.raises(KeyError, match="first"), ProcessWorkers(work, jobs=1) as workers:
        workers.prepare(fail)


def test_a_deadly_first_work_does_not_lose_the_tasks():
    with ProcessWorkers(work, jobs=1) as workers:
        workers.prepare(work, DEADLY)
        assert dict(workers.outcomes([2])) == {2: 4}


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from clubcascade.experiment.workers import ProcessWorkers\n"
        "with ProcessWorkers(print, 1) as workers:\n"
        "    workers.prepare(print)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "clubcascade.experiment.workers.WorkerDied: no worker process could start"
    )


def blocked(task: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.skipif(os.name != "posix", reason="signal masks")
def test_even_the_first_worker_starts_deaf_to_ctrl_c():
    """In a process of its own: what multiprocessing starts first must not unblock the signal."""
    script = (
        "from clubcascade.experiment.workers import ProcessWorkers\n"
        "from tests.experiment.test_workers import blocked\n"
        "with ProcessWorkers(blocked, 2) as workers:\n"
        "    print([answer for _, answer in workers.outcomes([0, 1])])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[True, True]\n"


def test_an_interrupted_run_does_not_wait_for_its_tasks(tmp_path):
    done = tmp_path / "done"
    with pytest.raises(KeyboardInterrupt), ProcessWorkers(wait_long, jobs=1) as workers:
        workers.prepare(threads, 0)
        workers._workers[0].submit(partial(wait_long, str(done)))
        raise KeyboardInterrupt
    assert not done.exists()


def grab(gigabytes: float) -> int:
    block = np.ones(int(gigabytes * 2**27))
    return os.getpid() if block[-1] == 1.0 else 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory")
def test_a_task_that_wants_too_much_memory_fails_alone():
    with ProcessWorkers(grab, jobs=1, memory=2 << 30) as workers:
        outcomes = dict(workers.outcomes([0.01, 8, 0.02]))
    assert isinstance(outcomes.pop(8), MemoryError)
    assert all(outcomes.values())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory")
def test_a_worker_that_has_grown_large_is_replaced():
    with ProcessWorkers(grab, jobs=1, memory=1 << 30) as workers:
        small = [pid for _, pid in workers.outcomes([0.01, 0.02])]
        large = [pid for _, pid in workers.outcomes([0.6, 0.03])]
    assert small[0] == small[1] == large[0] != large[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory")
def test_a_worker_of_a_large_process_is_not_replaced():
    block = np.ones(2**26)  # half a gigabyte that the workers must not be blamed for
    with ProcessWorkers(grab, jobs=1, memory=1 << 30) as workers:
        pids = [pid for _, pid in workers.outcomes([0.01, 0.02, 0.03])]
    assert len(set(pids)) == 1 and block[-1] == 1.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory")
def test_a_task_that_needs_more_than_its_share_runs_again_alone():
    with ProcessWorkers(grab, jobs=2, memory=1 << 30) as workers:
        outcomes = dict(workers.outcomes([0.01, 1.2, 0.02, 8]))
    assert isinstance(outcomes.pop(8), MemoryError)
    assert all(isinstance(pid, int) for pid in outcomes.values()) and len(outcomes) == 3


def test_there_is_a_core():
    assert cores() >= 1
