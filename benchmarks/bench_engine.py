"""Measure the engine without the command line's extras: ``python benchmarks/bench_engine.py``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clubcascade import bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look")
    parser.add_argument("--only", help=f"parts, with commas between: {', '.join(bench.PARTS)}")
    parser.add_argument("--out", type=Path, default=Path("clubcascade-bench"))
    options = parser.parse_args()
    report = bench.measure(
        options.only.split(",") if options.only else None,
        quick=options.quick,
        progress=lambda what, done, total: print(f"{done} of {total}: {what}", flush=True),
    )
    print(report.markdown())
    for path in bench.write(report.joined(bench.read(options.out)), options.out):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
