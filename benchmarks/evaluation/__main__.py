"""Print what was reached of the goals of the protocol: ``python -m benchmarks.evaluation FOLDER``.

Run it in a clone of the repository, on the results of ``clubcascade reproduce --figure
evaluation``. The goals are those of docs/evaluation-protocol.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.evaluation.goals import goal_lines, newcomer_lines
from clubcascade.errors import ClubCascadeError
from clubcascade.report.folders import find_runs, first_look_words


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.evaluation", description=__doc__)
    parser.add_argument("folder", help="a result folder, or a folder of them")
    try:
        runs, _ = find_runs(parser.parse_args(arguments).folder)
    except ClubCascadeError as error:
        parser.error(str(error))
    quick = first_look_words(runs)
    lines = [line for run in runs for line in newcomer_lines(run)]
    lines += [f"**A first look**{quick}", ""] if quick else []
    goals = list(goal_lines([run for run in runs if not run.first_look]))
    print(*lines, *(["### Goals", "", *goals] if goals else []), sep="\n")


if __name__ == "__main__":
    main()
