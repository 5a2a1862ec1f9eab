"""The engine "ray" on a cluster of two nodes of this machine, one of which is killed."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clubcascade import datasets
from clubcascade.errors import ClubCascadeError, InvalidConfig, MissingExtra
from clubcascade.experiment import data, ray_workers, read_results, run_experiment
from clubcascade.experiment.ray_workers import RayWorkers, check_address, reachable
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
    made = started()
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


def held(path: str) -> str:
    """Say that it has begun, and where; end when the test says so."""
    with Path(path).open("a") as file:
        file.write(ray.get_runtime_context().get_node_id() + "\n")
    while not Path(path).with_name("release").exists():
        time.sleep(0.01)
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

    def kill() -> None:
        """Kill the second node while a task is under way there; only then may tasks end."""
        try:
            wait_for(lambda: any(begun(task) == [second.node_id] for task in tasks))
            cluster.remove_node(second, allow_graceful=False)
        finally:
            (tmp_path / "release").touch()

    with RayWorkers(held, 4, address=cluster.address) as workers, ThreadPoolExecutor(1) as pool:
        workers.prepare(square, 1)  # a process is there on both nodes
        killed = pool.submit(kill)
        ended = dict(workers.outcomes(tasks))
        killed.result()
    assert ended == {task: task for task in tasks}
    places = [begun(task) for task in tasks]
    assert len({node for nodes in places for node in nodes}) == 2
    assert max(len(nodes) for nodes in places) == 2  # begun on the killed node, done on the other


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so; that it never is takes minutes to tell."""
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


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
        workers.prepare(fail)


def test_data_are_sent(cluster, tmp_path):
    np.savez(tmp_path / "mine.npz", clicks=np.eye(4, dtype=bool))
    mine = datasets.find(tmp_path / "mine.npz")
    task = ("not on the disk of the worker", mine.fingerprint)
    with RayWorkers(first_click, address=cluster.address, data=[mine]) as workers:
        assert dict(workers.outcomes([task])) == {task: 4}


def test_nobody_at_the_address_is_told_at_once(monkeypatch):
    """Ray, which would wait for minutes, is not even asked."""
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", None)
    with (
        pytest.raises(ClubCascadeError, match=r"no Ray cluster at 127\.0\.0\.1:9"),
        RayWorkers(square, address="127.0.0.1:9"),
    ):
        pass


@pytest.fixture
def last_started(tmp_path, monkeypatch):
    """Write the address of a cluster where Ray remembers the one that was started last."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    return (tmp_path / "ray" / "ray_current_cluster").write_text


def test_a_cluster_that_is_gone_is_not_waited_for(last_started):
    assert reachable(None) == "local"
    last_started("127.0.0.1:9")
    assert reachable(None) == reachable("") == "local"


def test_a_cluster_that_answers_is_joined(cluster, last_started):
    last_started(cluster.address)
    assert reachable(None) == cluster.address
    check_address(cluster.address)


def test_what_answers_must_be_ray(last_started):
    """Another program may have the port of a cluster that is gone; Ray would wait for minutes."""
    with socket.create_server(("", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(10)

        def refuse():
            for _ in range(2):
                with server.accept()[0] as connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        refused = pool.submit(refuse)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        last_started(address)
        assert reachable(None) == "local"
        with pytest.raises(OSError, match="not Ray"):
            reachable(address)
        refused.result()


@pytest.mark.parametrize("silent", [True, False])
def test_an_address_of_the_environment_that_is_stale_is_named(monkeypatch, silent):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", None)
    monkeypatch.setattr(ray_workers, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}" if silent else "127.0.0.1:9"
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(ClubCascadeError, match=f"no Ray cluster at {address}: "):
            RayWorkers(square).__enter__()


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'needs ray: pip install "clubcascade\[ray\]"'):
        RayWorkers(square)
