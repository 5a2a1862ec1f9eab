"""From files to a kept data set: once, and never half."""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clubcascade.datasets import store
from clubcascade.datasets.files import PathLike, Progress, opened, silent
from clubcascade.datasets.interactions import Interactions
from clubcascade.errors import InvalidData


@dataclass(frozen=True)
class Prepared:
    """A data set that is kept now, where, and whether anything had to be done for it."""

    data: Interactions
    path: Path
    fresh: bool


def prepare(
    name: str,
    kind: str,
    files: Sequence[Path],
    make: Callable[[dict[str, Any]], Interactions],
    arguments: Sequence[str],
    terms: str,
    *,
    options: dict[str, Any] | None = None,
    folder: PathLike | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Make a data set and keep it, unless the same files were prepared before.

    ``make`` is given what is known of the source. ``options`` is what the result depends on besides
    the files; ``arguments`` is what stands behind ``clubcascade data`` to prepare it again.
    """
    target = store.path_of(name, folder)
    key = {"kind": kind, "checksum": checksum(files, progress), "options": options or {}}
    earlier = kept(target)
    if earlier is not None and {part: earlier.source.get(part) for part in key} == key:
        return Prepared(earlier, target, fresh=False)
    source = key | {
        "file": ", ".join(path.name for path in files),
        "terms": terms,
        "command": shlex.join(["clubcascade", "data", *arguments]),
        "prepared": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    data = make(source)
    store.write(data, target)
    return Prepared(data, target, fresh=True)


def kept(path: Path) -> Interactions | None:
    """Return what is kept in a file, or None where there is nothing that can be used."""
    try:
        return store.read(path)
    except (OSError, InvalidData):
        return None


def checksum(files: Sequence[Path], progress: Progress = silent) -> str:
    """Return a checksum of files: SHA-256, of several files over their sorted checksums."""
    digests = []
    for file in files:
        with opened(file, progress, "checksum") as stream:
            digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
    if len(digests) > 1:
        digests = [hashlib.sha256(" ".join(sorted(digests)).encode()).hexdigest()]
    return f"sha256:{digests[0]}"
