"""The ``[tune]`` table of an experiment file, and that tuning is fair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clubcascade.errors import InvalidConfig
from clubcascade.experiment.spec import Contender, Tune
from clubcascade.experiment.table import Table

TUNING_SEED = 1_000_000
"""The first seed of tuning where the file says how many: far from those of the runs."""

OPTIONAL = ("rounds", "budget")


def read_tune(top: Table, changed: Any) -> Tune | None:
    """Read ``[tune]``; None where there is none.

    Parameters
    ----------
    top
        The experiment file.
    changed
        What ``[quick.tune]`` says instead, where that is wanted.
    """
    if "tune" not in top:
        return None
    tune = _read(Table(top.content["tune"], "tune", required=["seeds"], optional=OPTIONAL))
    if changed is None:
        return tune
    return _read(Table(changed, "quick.tune", required=(), optional=["seeds", *OPTIONAL]), tune)


def check_tuning(policies: Sequence[Contender], tune: Tune | None, seeds: Sequence[int]) -> None:
    """See to it that tuning has something to tune, and no seed of the results."""
    tuned = [c.label for c in policies if c.tune]
    if bool(tuned) != (tune is not None):
        alone = f"{tuned[0]!r} without a [tune] table" if tuned else "the table alone"
        raise InvalidConfig(
            f"a [tune] table and policies with 'tune' lines must come together, got {alone}"
        )
    shared = sorted(set(tune.seeds if tune else ()) & set(seeds))
    if shared:
        raise InvalidConfig(
            f"tune.seeds must not be seeds of the experiment, got {shared[0]} in both"
        )


def _read(table: Table, otherwise: Tune | None = None) -> Tune:
    """Read a table; what it does not say is as in the other one."""
    given: dict[str, Any] = {key: table.whole(key) for key in OPTIONAL if key in table}
    if "seeds" in table:
        given["seeds"] = _seeds(table)
    return Tune(**given) if otherwise is None else replace(otherwise, **given)


def _seeds(table: Table) -> tuple[int, ...]:
    seeds = table.seeds("seeds")
    counted = not isinstance(table.content["seeds"], list)
    return tuple(TUNING_SEED + seed for seed in seeds) if counted else seeds
