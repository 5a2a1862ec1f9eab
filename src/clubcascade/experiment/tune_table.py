"""The ``[tune]`` table of an experiment file, and that tuning is fair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clubcascade.errors import InvalidConfig
from clubcascade.experiment.spec import Contender, Tune
from clubcascade.experiment.table import Table

TUNING_SEED = 1_000_000
"""The first seed of tuning where the file says how many: far from those of the runs."""


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
    table = Table(top.content["tune"], "tune", required=["seeds"], optional=["rounds"])
    tune = Tune(_seeds(table), _rounds(table))
    if changed is None:
        return tune
    table = Table(changed, "quick.tune", required=(), optional=["seeds", "rounds"])
    seeds = _seeds(table) if "seeds" in table else tune.seeds
    return Tune(seeds, _rounds(table) if "rounds" in table else tune.rounds)


def check_tuning(policies: Sequence[Contender], tune: Tune | None, seeds: Sequence[int]) -> None:
    """See to it that tuning is fair: one budget for all, and no seed of the results."""
    budgets = {c.label: len(c.points) for c in policies if c.tune}
    if bool(budgets) != (tune is not None):
        alone = f"{next(iter(budgets))!r} without a [tune] table" if budgets else "the table alone"
        raise InvalidConfig(
            f"a [tune] table and policies with a 'tune' grid must come together, got {alone}"
        )
    if len(set(budgets.values())) > 1:
        raise InvalidConfig(
            "every tuned policy must have the same number of grid points, got "
            + ", ".join(f"{size} of {label!r}" for label, size in budgets.items())
        )
    shared = sorted(set(tune.seeds if tune else ()) & set(seeds))
    if shared:
        raise InvalidConfig(
            f"tune.seeds must not be seeds of the experiment, got {shared[0]} in both"
        )


def _seeds(table: Table) -> tuple[int, ...]:
    seeds = table.seeds("seeds")
    counted = not isinstance(table.content["seeds"], list)
    return tuple(TUNING_SEED + seed for seed in seeds) if counted else seeds


def _rounds(table: Table) -> int | None:
    return table.whole("rounds") if "rounds" in table else None
