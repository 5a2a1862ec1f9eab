"""Worker processes: tasks side by side; a task that fails, or takes its worker along, is alone.

A worker uses one thread. It leaves at once when the process that started it stops or dies. Its
memory is bounded twice: beyond a share of the machine's memory a task fails with MemoryError and
does not take the machine along, and a worker that has grown large is replaced by a fresh one.
A task that needs more than its share, or whose worker was killed, runs again when it is alone.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Self

from clubcascade.experiment.memory import limit_memory, peak_memory, share_of_memory

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
CANNOT_START = (
    "no worker process could start; a script that runs an experiment must do so below "
    "if __name__ == '__main__':, because workers import the script"
)
LARGE = 1 << 30
"""Bytes of memory at its peak from which a worker is replaced before the next task."""


class WorkerDied(RuntimeError):
    """The process of a task ended before the task did."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ProcessWorkers:
    """Worker processes of this machine that all do one kind of work.

    ``work`` is a function of a module, so that workers can import it; ``jobs`` tasks run at once.
    ``memory`` are the bytes that one worker may use, by default an equal share of the machine's.
    """

    def __init__(self, work: Callable[[Any], Any], jobs: int, *, memory: int | None = None) -> None:
        self.work = work
        self._memory = share_of_memory(jobs) if memory is None else memory
        self._workers = [Worker(self._memory) for _ in range(jobs)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.close()

    def prepare(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Do something in one worker before the tasks start; its error is raised here.

        If it takes its worker along, the tasks go on without it, unless no worker can start.
        """
        calls: list[Callable[[], Any]] = [partial(work, *arguments), _nothing]
        for attempt, call in enumerate(calls):
            try:
                self._workers[0].submit(call).result()
                return
            except BrokenProcessPool:
                self._workers[0].close()
                if attempt:
                    raise WorkerDied(CANNOT_START) from None

    def outcomes(self, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (task, result or exception) as the tasks end, in any order."""
        waiting, idle = deque(tasks), list(self._workers)
        running: dict[Future[Any], tuple[Worker, Any]] = {}
        again = []
        while waiting or running:
            while waiting and idle:
                worker, task = idle.pop(), waiting.popleft()
                running[worker.submit(partial(self.work, task))] = worker, task
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                worker, task = running.pop(future)
                outcome = worker.outcome(future)
                idle.append(worker)
                more = isinstance(outcome, MemoryError) and len(self._workers) > 1
                if more or isinstance(outcome, WorkerDied):
                    again.append(task)
                else:
                    yield task, outcome
        if again:
            self.__exit__()
            with Worker(self._memory * len(self._workers)) as worker:
                for task in again:  # alone: if the worker dies again, it is this task's doing
                    yield task, worker.outcome(worker.submit(partial(self.work, task)))


class Worker:
    """One process that does one thing after the other; it starts when it is first needed."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Start a call. Its future holds the result and the peak of memory; see :meth:`outcome`."""
        with _worker_settings():
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._theirs, self._ours = context.Pipe(duplex=False)
                settings = (self._theirs, self.memory)
                self._pool = ProcessPoolExecutor(1, context, _set_up, settings)
            return self._pool.submit(_measured, call)

    def outcome(self, future: Future[Any]) -> Any:
        """Return the result or the exception of a call; a broken or large worker is replaced."""
        error = future.exception()
        if isinstance(error, BrokenProcessPool | MemoryError):
            self.close()
        if isinstance(error, BrokenProcessPool):
            return WorkerDied("its process was killed, for example because memory ran out")
        if error is not None:
            return error
        result, peak = future.result()
        if peak > min(LARGE, self.memory // 2):
            self.close()
        return result

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            self._ours.close()
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._theirs.close()
            self._pool = None


@contextmanager
def _worker_settings() -> Iterator[None]:
    """Start workers with one thread each, and deaf to Ctrl-C, which is the parent's to hear."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        resource_tracker.ensure_running()  # its start would unblock Ctrl-C for what comes next
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _nothing() -> None:
    """See whether a worker starts."""


def _measured(call: Callable[[], Any]) -> tuple[Any, int]:
    """Do something, and say how much memory this process has used at most."""
    return call(), peak_memory()


def _set_up(owner: Connection, memory: int) -> None:
    """Bound the memory, and leave as soon as the owner closes its end, by will or by death."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(memory)

    def watch() -> None:
        with suppress(EOFError, OSError):
            owner.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
