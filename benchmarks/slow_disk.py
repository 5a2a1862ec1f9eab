"""The command ``clubcascade`` on a disk whose every sync takes longer by so many milliseconds.

    python benchmarks/slow_disk.py 5 serve --dir data
    python benchmarks/slow_disk.py 5 commits folder

For ``load.py``: what group commit is worth depends on the disk. Each commit takes longer before it
is believed, as it does on a slow disk; other threads go on meanwhile. ``commits`` is no command of
``clubcascade``: it prints how many commits of one event each a second has on that disk.
"""

from __future__ import annotations

import sys
import time

from clubcascade.cli import main
from clubcascade.storage import Entry, Group, SqliteStore

SECONDS = 2.0


def slow_down(milliseconds: float) -> None:
    """Make every commit of every SQLite store take longer."""
    at_once = SqliteStore.append

    def append(self: SqliteStore, group: Group) -> int | None:
        first = at_once(self, group)
        time.sleep(milliseconds / 1000)
        return first

    SqliteStore.append = append  # type: ignore[method-assign]


def commits(folder: str) -> float:
    """Return commits a second, one event each."""
    store, number, start = SqliteStore(folder), 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        number += 1
        store.append(Group(events=[Entry(b"x" * 700)]))
    rate = number / (time.perf_counter() - start)
    store.close()
    return rate


if __name__ == "__main__":
    longer = float(sys.argv.pop(1))
    if longer > 0:
        slow_down(longer)
    if sys.argv[1] == "commits":
        print(commits(sys.argv[2]))
    else:
        main()
