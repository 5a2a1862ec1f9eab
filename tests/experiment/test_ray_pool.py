"""The engine "ray" on a cluster of two nodes of this machine, one of which is killed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clubcascade import datasets
from clubcascade.errors import ClubCascadeError, InvalidConfig, MissingExtra
from clubcascade.experiment import data, read_results, run_experiment
from clubcascade.experiment.ray_pool import RayWorkers
from tests.experiment import tiny

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of Ray's own processes and pipes
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def started(attempts: int = 3):
    """Start a cluster; Ray gives a node half a minute, which a busy machine may not have."""
    head = {**SMALL, "include_dashboard": False}
    for attempt in range(attempts):
        try:
            return cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        except Exception:
            if attempt == attempts - 1:
                raise


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each; tests may kill the second."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={**SMALL, "include_dashboard": False}
    )
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def second(cluster):
    """The second node, alive."""
    if len(cluster.worker_nodes) < 1:
        cluster.add_node(**SMALL)
        cluster.wait_for_nodes()
    (node,) = cluster.worker_nodes
    return node


def slowly(path: str) -> str:
    """Say that it has begun, and where; then take a while."""
    with Path(path).open("a") as file:
        file.write(ray.get_runtime_context().get_node_id() + "\n")
    time.sleep(1.0)
    return path


def begun(path: str) -> list[str]:
    return Path(path).read_text().split() if Path(path).exists() else []


def square(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number * number


def first_click(task: tuple[str, str]) -> int:
    return int(data.clicks_of(*task).nnz)


def fail() -> None:
    raise InvalidConfig("no")


def test_tasks_run_on_both_nodes_and_those_of_a_killed_node_run_again(cluster, second, tmp_path):
    tasks = [str(tmp_path / name) for name in "abcdefgh"]
    ended = {}
    killed = False
    with RayWorkers(slowly, 4, address=cluster.address) as workers:
        workers.first(square, 1)  # a process is there on both nodes
        for task, outcome in workers.outcomes(tasks):
            ended[task] = outcome
            waiting = [t for t in tasks if t not in ended]
            if not killed and just_begun(waiting, second.node_id):
                killed = True
                cluster.remove_node(second, allow_graceful=False)
    assert killed
    assert ended == {task: task for task in tasks}
    places = [begun(task) for task in tasks]
    assert len({node for nodes in places for node in nodes}) == 2
    assert max(len(nodes) for nodes in places) == 2  # begun on the killed node, done on the other


def just_begun(tasks: list[str], node: str) -> bool:
    """Wait a little for a task that begins on a node: it is far from its end."""
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        for task in tasks:
            if begun(task)[-1:] == [node] and time.time() - Path(task).stat().st_mtime < 0.3:
                return True
        time.sleep(0.01)
    return False


def test_a_killed_node_changes_no_result(cluster, second, tmp_path):
    experiment = tiny.experiment(seeds=6, rounds=20_000)
    killed = []

    def kill(step):
        if step.done == 3 and not killed:
            killed.append(step)
            cluster.remove_node(second, allow_graceful=False)

    address = cluster.address
    there = tmp_path / "ray"
    report = run_experiment(experiment, there, engine="ray", ray_address=address, progress=kill)
    assert killed and report.failures == () and report.reused == 0
    run_experiment(experiment, tmp_path / "process", jobs=2)
    ours, theirs = (
        read_results(tmp_path / name).curves.drop(columns="seconds") for name in ("ray", "process")
    )
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    for name in ("summary.csv", "config.toml"):
        assert (there / name).read_bytes() == (tmp_path / "process" / name).read_bytes()
    assert {path.name for path in (there / "cells").iterdir()} == {
        path.name for path in (tmp_path / "process" / "cells").iterdir()
    }
    gone = sorted((there / "cells").iterdir())[:5]
    for path in gone:
        path.unlink()
    again = run_experiment(experiment, there, engine="ray", ray_address=address)
    assert again.reused == 12 - 5
    again = read_results(there).curves.drop(columns="seconds")
    pd.testing.assert_frame_equal(again, theirs, check_exact=True)


def test_a_failing_task_does_not_lose_the_others(cluster):
    with RayWorkers(square, 2, address=cluster.address) as workers:
        outcomes = dict(workers.outcomes(range(5)))
    error = outcomes.pop(3)
    assert isinstance(error, ValueError) and str(error) == "three"
    assert "square" in "".join(error.__notes__)
    assert outcomes == {0: 0, 1: 1, 2: 4, 4: 16}


def test_an_error_of_the_first_work_is_raised(cluster):
    workers = RayWorkers(square, address=cluster.address)
    with pytest.raises(InvalidConfig, match="no"), workers:
        workers.first(fail)


def test_data_are_sent(cluster, tmp_path):
    np.savez(tmp_path / "mine.npz", clicks=np.eye(4, dtype=bool))
    mine = datasets.find(tmp_path / "mine.npz")
    task = ("not on the disk of the worker", mine.fingerprint)
    with RayWorkers(first_click, address=cluster.address, data=[mine]) as workers:
        assert dict(workers.outcomes([task])) == {task: 4}


def test_nobody_at_the_address_is_told_at_once():
    start = time.monotonic()
    with (
        pytest.raises(ClubCascadeError, match=r"no Ray cluster at 127\.0\.0\.1:9"),
        RayWorkers(square, address="127.0.0.1:9"),
    ):
        pass
    assert time.monotonic() - start < 20


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'needs ray: pip install "clubcascade\[ray\]"'):
        RayWorkers(square)
