"""Measure the engine: ``python -m benchmarks.engine``, in a clone of the repository.

Prints the tables, writes them as bench.json and bench.md, and draws growth.png and growth.svg.
Keep the machine quiet meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import engine
from benchmarks.engine.figure import save_growth
from benchmarks.engine.table import read, write
from clubcascade.errors import ClubCascadeError


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    parser.add_argument("--only", help=f"parts, with commas between: {', '.join(engine.PARTS)}")
    parser.add_argument("--out", type=Path, default=Path("clubcascade-bench"), help="folder")
    options = parser.parse_args(arguments)
    names = [name.strip() for name in options.only.split(",")] if options.only else None
    try:
        earlier = read(options.out)
        report = engine.measure(names, quick=options.quick, progress=_say)
    except ClubCascadeError as error:
        parser.error(str(error))
    print(report.markdown())
    for path in [*write(report.joined(earlier), options.out), *save_growth(options.out)]:
        print(f"wrote {path}")


def _say(what: str, done: int, total: int) -> None:
    print(f"{done} of {total}: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
