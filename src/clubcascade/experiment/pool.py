"""Worker processes: tasks side by side; a task that fails, or takes its worker along, is alone.

A worker uses one thread. It leaves at once when the process that started it stops or dies.
"""

from __future__ import annotations

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
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Task = TypeVar("Task")

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


class WorkerDied(RuntimeError):
    """The process of a task ended before the task did."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers(Generic[Task]):
    """A number of worker processes that all do one kind of work.

    Parameters
    ----------
    work
        What is done with a task: a function of a module, so that workers can import it.
    jobs
        How many tasks run at once.
    """

    def __init__(self, work: Callable[[Task], Any], jobs: int) -> None:
        self.work = work
        self.jobs = jobs
        self._context = multiprocessing.get_context("spawn")

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._pool.shutdown(wait=True)
        self._close()

    def first(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Do something in one worker before the tasks start; its error is raised here.

        If it takes its worker along, the tasks go on without it, unless no worker can start.
        """
        calls: list[Callable[[], Any]] = [partial(work, *arguments), _nothing]
        for attempt, call in enumerate(calls):
            with self._in_workers():
                future = self._pool.submit(call)
            try:
                future.result()
                return
            except BrokenProcessPool:
                if attempt:
                    raise WorkerDied(CANNOT_START) from None
                self._reopen()

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """Yield (task, result or exception) as the tasks end, in any order."""
        waiting = deque(tasks)
        running: dict[Future[Any], Task] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                task = waiting.popleft()
                running[self._submit(task)] = task
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                suspects = list(running.values())
                running.clear()
                self._reopen()
                yield from ((task, self._alone(task)) for task in suspects)
                continue
            for future in done:
                yield running.pop(future), future.exception() or future.result()

    def _alone(self, task: Task) -> Any:
        """Do a task with no other beside it: if the worker dies again, it is this task's doing."""
        future = self._submit(task)
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            self._reopen()
            return WorkerDied("its process was killed, for example because memory ran out")
        return error or future.result()

    def _submit(self, task: Task) -> Future[Any]:
        with self._in_workers():
            return self._pool.submit(self.work, task)

    def _open(self) -> None:
        leash, self._held = self._context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self.jobs, mp_context=self._context, initializer=_obey, initargs=(leash,)
        )
        self._leash = leash

    def _close(self) -> None:
        self._held.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._leash.close()

    def _reopen(self) -> None:
        self._close()
        self._open()

    @contextmanager
    def _in_workers(self) -> Iterator[None]:
        """Start workers with one thread each, and deaf to Ctrl-C, which is the parent's to hear."""
        before = {name: os.environ.get(name) for name in THREADS}
        os.environ.update(dict.fromkeys(THREADS, "1"))
        masks = hasattr(signal, "pthread_sigmask")
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


def _obey(leash: Connection) -> None:
    """Let the worker leave as soon as the other end of the leash is closed, by will or by death."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            leash.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
