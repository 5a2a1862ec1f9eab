"""Where runs take place: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from clubcascade import validation
from clubcascade.datasets import Interactions
from clubcascade.errors import InvalidArgument
from clubcascade.experiment.pool import Workers, cores
from clubcascade.experiment.ray_pool import RayWorkers

ENGINES = ("process", "ray")


class Engine(Protocol):
    """Workers that all do one kind of work."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def first(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Do something before the tasks start; its error is raised here."""

    def outcomes(self, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (task, result or exception) as the tasks end, in any order."""


def open_engine(
    name: str,
    work: Callable[[Any], Any],
    *,
    tasks: int,
    jobs: int | None = None,
    address: str | None = None,
    data: Sequence[Interactions] = (),
) -> Engine:
    """Make the workers of an engine; they start when they are entered or needed.

    Parameters
    ----------
    name
        ``"process"`` or ``"ray"``.
    work
        What is done with a task: a function of a module.
    tasks
        How many tasks there will be, at most.
    jobs
        How many run at once; by default one per core, of this machine or of the cluster.
    address
        Address of the Ray cluster.
    data
        Data sets that the tasks need; machines of a cluster may not have them.
    """
    check_engine(name, address)
    if name == "ray":
        return RayWorkers(work, jobs, address=address, data=data)
    return Workers(work, max(1, min(cores() if jobs is None else jobs, tasks)))


def check_engine(name: str, address: str | None) -> None:
    """Raise if there is no such engine, or an address for an engine that has none."""
    validation.choice("engine", name, ENGINES)
    if address is not None and name != "ray":
        raise InvalidArgument(f'ray_address is for the engine "ray", got engine {name!r}')
