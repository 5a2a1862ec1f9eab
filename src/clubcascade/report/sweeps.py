"""Sweeps over two parameters: a grid of policies, between the limits at its ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clubcascade.experiment.config import Contender, value_text

SMALLEST = 4
"""Policies of a kind that make a sweep."""

FINEST = 3
"""Values of either parameter that make a heat map."""

SPLIT, WHOLE = "multiple_lin_ucb", "c3_ucb"
"""What CLUB-cascade becomes as alpha goes to 0 and to infinity: a model per user, one for all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One value of the first parameter, or a limit.

    Parameters
    ----------
    name
        The value, or the policy that is the limit.
    labels
        Labels of the policies, by the value of the second parameter.
    limit
        Which limit it is, such as ``"alpha → 0"``; empty for a value.
    """

    name: str
    labels: Mapping[str, str]
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Policies that differ in exactly two parameters.

    Parameters
    ----------
    policy
        Their kind.
    names
        The two parameters.
    columns
        The values of the second.
    rows
        The values of the first, between the limits that were run.
    """

    policy: str
    names: tuple[str, str]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def is_map(self) -> bool:
        """Whether it is a whole grid, with enough values of either parameter."""
        inner = [row for row in self.rows if not row.limit]
        whole = all(len(row.labels) == len(self.columns) for row in inner)
        return whole and min(len(inner), len(self.columns)) >= FINEST


def sweeps(policies: Sequence[Contender]) -> list[Sweep]:
    """Return the sweeps among policies, each with its limits."""
    kinds: dict[object, list[Contender]] = {}
    for contender in policies:
        kind = (contender.policy, tuple(sorted(contender.parameters)))
        kinds.setdefault(kind, []).append(contender)
    groups = kinds.values()
    return [
        _sweep(group, policies)
        for group in groups
        if len(group) >= SMALLEST and len(varied(group)) == 2
    ]


def varied(group: Sequence[Contender]) -> list[str]:
    """Return the parameters in which policies differ."""
    first = group[0].parameters
    return [n for n in first if any(c.parameters.get(n) != first[n] for c in group)]


def _sweep(group: Sequence[Contender], policies: Sequence[Contender]) -> Sweep:
    first, second = varied(group)
    found: dict[str, dict[str, str]] = {}
    for contender in group:
        row, column = (value_text(contender.parameters[name]) for name in (first, second))
        found.setdefault(row, {})[column] = contender.label
    rows = [Row(name, labels) for name, labels in found.items()]
    columns = tuple(dict.fromkeys(column for row in rows for column in row.labels))
    if (group[0].policy, first) == ("club_cascade", "alpha"):
        rows = [
            *_limit("alpha → 0", [c for c in policies if c.policy == SPLIT], second, columns),
            *rows,
            *_limit("alpha → ∞", [c for c in policies if c.policy == WHOLE], second, columns),
        ]
    return Sweep(group[0].policy, (first, second), columns, tuple(rows))


def _limit(limit: str, there: Sequence[Contender], name: str, columns: Sequence[str]) -> list[Row]:
    """Return the row of a limit, if it was run with values of the grid."""
    labels = {value_text(c.parameters[name]): c.label for c in there if name in c.parameters}
    known = {column: labels[column] for column in columns if column in labels}
    return [Row(next(iter(known.values())).split(f", {name}=")[0], known, limit)] if known else []
