"""Sweeps over two parameters: a grid of policies, between the limits at its ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clubcascade.experiment.config import value_text
from clubcascade.experiment.schema import Contender

SMALLEST = 4
"""Policies of a kind that make a sweep."""

FINEST = 3
"""Values of either parameter that make a heat map."""

LIMITS = (("multiple_lin_ucb", "alpha → 0"), ("c3_ucb", "alpha → ∞"))
"""What CLUB-cascade becomes as alpha goes to 0 and to infinity: a model per user, one for all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One value of the first parameter, or a limit such as ``"alpha → 0"``.

    ``labels`` are those of the policies, by the value of the second parameter.
    """

    name: str
    labels: Mapping[str, str]
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Policies of one kind that differ in exactly two parameters, whose names are ``names``.

    ``rows`` are the values of the first, between the limits that were run; ``columns`` those of the
    second.
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

    @property
    def labels(self) -> list[str]:
        """The labels of all of its policies."""
        return [label for row in self.rows for label in row.labels.values()]


def sweeps(policies: Sequence[Contender]) -> list[Sweep]:
    """Return the sweeps among policies, each with its limits."""
    kinds: dict[object, list[Contender]] = {}
    for contender in policies:
        kind = (contender.policy, tuple(sorted(contender.parameters)))
        kinds.setdefault(kind, []).append(contender)
    found = []
    for group in kinds.values():
        first = group[0].parameters
        varied = [n for n in first if any(c.parameters[n] != first[n] for c in group)]
        if len(group) >= SMALLEST and len(varied) == 2:
            found.append(_sweep(group, (varied[0], varied[1]), policies))
    return found


def _sweep(
    group: Sequence[Contender], names: tuple[str, str], policies: Sequence[Contender]
) -> Sweep:
    found: dict[str, dict[str, str]] = {}
    for contender in group:
        row, column = (value_text(contender.parameters[name]) for name in names)
        found.setdefault(row, {})[column] = contender.label
    rows = [Row(name, labels) for name, labels in found.items()]
    columns = tuple(dict.fromkeys(column for row in rows for column in row.labels))
    if (group[0].policy, names[0]) == ("club_cascade", "alpha"):
        low, high = (_limit(*limit, policies, names[1], columns) for limit in LIMITS)
        rows = [*low, *rows, *high]
    return Sweep(group[0].policy, names, columns, tuple(rows))


def _limit(
    policy: str, limit: str, policies: Sequence[Contender], name: str, columns: Sequence[str]
) -> list[Row]:
    """Return the row of a limit, if it was run with values of the grid."""
    there = [c for c in policies if c.policy == policy and name in c.parameters]
    labels = {value_text(c.parameters[name]): c.label for c in there}
    known = {column: labels[column] for column in columns if column in labels}
    return [Row(next(iter(known.values())).split(f", {name}=")[0], known, limit)] if known else []
