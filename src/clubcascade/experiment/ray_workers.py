"""Workers on a Ray cluster: the same tasks, results and files as with processes.

Results come back and are written by the process that asked, so the machines of the cluster need no
disk in common; data sets are sent to them. They need this version of clubcascade. A task whose
machine or process dies is run again elsewhere.
"""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Self

from clubcascade.datasets import Interactions
from clubcascade.errors import ClubCascadeError, MissingExtra
from clubcascade.experiment.data import lend
from clubcascade.experiment.memory import limit_memory, share_of_memory
from clubcascade.experiment.workers import WorkerDied, cores

RETRIES = 3
"""How often a task is run again when its machine or its process dies."""
TIMEOUT = 5.0
"""Seconds in which a cluster must answer."""
CALLS = 200
"""Tasks after which a worker process is replaced by a fresh one."""


class RayWorkers:
    """The workers of a Ray cluster, which all do one kind of work.

    By default one job runs per core of the cluster. Without an address it is the connection that is
    there, the one that the variable ``RAY_ADDRESS`` names, the one that was last started on this
    machine and still answers, or else a cluster on this machine, for as long as it is needed.
    ``data`` are data sets that the tasks need.
    """

    def __init__(
        self,
        work: Callable[[Any], Any],
        jobs: int | None = None,
        *,
        address: str | None = None,
        data: Sequence[Interactions] = (),
    ) -> None:
        self.work, self.jobs, self.address, self.data = work, jobs, address, list(data)
        self._mine = False
        try:
            self._ray: Any = import_module("ray")
        except ModuleNotFoundError as error:
            raise MissingExtra(
                'the engine "ray" needs ray: pip install "clubcascade[ray]"'
            ) from error
        self._errors: Any = import_module("ray.exceptions")
        self._strategies: Any = import_module("ray.util.scheduling_strategies")

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            self._connect()
        self._lent = self._ray.put(self.data)
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES, max_calls=CALLS)
        self._do = remote(_do)
        return self

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        given = self.address or os.environ.get("RAY_ADDRESS")
        try:
            address = reachable(given)
            self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, self._errors.RayError, RuntimeError, ValueError) as error:
            raise ClubCascadeError(
                f"no Ray cluster at {given or 'this machine'}: {error}"
            ) from error
        self._mine = True

    def __exit__(self, *error: object) -> None:
        if self._mine:
            self._ray.shutdown()

    def prepare(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Do something on every machine before the tasks start; its error is raised here.

        A machine that dies meanwhile is left out; the tasks go on without it.
        """
        calls = []
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1:
                there = self._strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                do = self._do.options(max_retries=0, scheduling_strategy=there)
                calls.append(do.remote(work, arguments, self._lent))
        for call in calls:
            outcome = self._outcome(call)
            if isinstance(outcome, BaseException) and not isinstance(outcome, WorkerDied):
                raise outcome

    def outcomes(self, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (task, result or exception) as the tasks end, in any order."""
        waiting = deque(tasks)
        running: dict[Any, Any] = {}
        while waiting or running:
            while waiting and len(running) < self._at_once():
                task = waiting.popleft()
                running[self._do.remote(self.work, (task,), self._lent)] = task
            done, _ = self._ray.wait(list(running), num_returns=1)
            for call in done:
                yield running.pop(call), self._outcome(call)

    def _at_once(self) -> int:
        """Return how many tasks run at once: the cluster may have grown or lost machines."""
        if self.jobs is not None:
            return self.jobs
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _outcome(self, call: Any) -> Any:
        """Return the result or the exception of a call."""
        try:
            return self._ray.get(call)
        except self._errors.RayTaskError as error:
            cause: BaseException = error.cause
            cause.add_note(str(error))
            return cause
        except self._errors.RayError as error:
            return WorkerDied(f"its machine or process died, {RETRIES + 1} times: {error}")


def reachable(given: str | None) -> str:
    """Return an address that answers; "local", a new cluster, where nothing is given or runs.

    Ray itself waits for minutes where nobody answers, for example at the address of a cluster of
    this machine that is gone: here that is an OSError after seconds.
    """
    found = given
    if given in (None, "", "auto"):  # what Ray would take: the cluster that was started last
        found = import_module("ray._private.services").canonicalize_bootstrap_address(given or None)
    try:
        check_address(found or "local")
    except OSError:
        if given:
            raise
        return "local"
    return found or "local"


def check_address(address: str) -> None:
    """Raise an OSError if no gRPC server answers at an address.

    >>> check_address("127.0.0.1:9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ConnectionRefusedError: ...
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # a word of Ray's own, such as "local"
    with socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT) as connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
            return
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
        frame = connection.recv(9)
        if len(frame) < 4 or frame[3] != 4:  # HTTP/2 begins with a frame of settings, type 4
            raise ConnectionError("what answers there is not Ray")


def _do(work: Callable[..., Any], arguments: tuple[Any, ...], data: Sequence[Interactions]) -> Any:
    """Do one thing in a worker."""
    limit_memory(share_of_memory(cores()))
    lend(data)
    return work(*arguments)
