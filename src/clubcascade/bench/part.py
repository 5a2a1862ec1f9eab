"""A part of the benchmark: measurements to make, and the table of their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clubcascade.bench.child import ONE_THREAD, Answer
from clubcascade.bench.table import Table


@dataclass(frozen=True)
class Job:
    """One call in a process of its own; ``label`` tells the reader what is being measured."""

    label: str
    function: Callable[..., Answer]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=lambda: ONE_THREAD)


@dataclass(frozen=True)
class Part:
    """A named part: its jobs (for a quick look, or whole), and how answers become a table."""

    name: str
    jobs: Callable[[bool], Sequence[Job]]
    table: Callable[[Sequence[Answer]], Table]
