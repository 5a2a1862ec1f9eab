"""The types of an experiment file: msgspec checks them, and every error is a sentence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, inspect

from clubcascade.errors import InvalidConfig, unknown_name
from clubcascade.validation import brief

MOST_SEEDS = 100_000
INNER = "policy."
"""What a tuned parameter of the policy inside another one begins with."""
Parameters = dict[str, Any]
Text = Annotated[str, Meta(pattern=r"\S", description="a string, not empty")]
Whole = Annotated[int, Meta(ge=1, description="a whole number >= 1")]
TuningRounds = Annotated[
    Annotated[int, Meta(ge=1)] | Annotated[float, Meta(gt=0, lt=1)],
    Meta(description="a whole number >= 1, or a share of the rounds below 1"),
]
Seed = Annotated[int, Meta(ge=0, description="a whole number >= 0")]
Seeds = Annotated[
    tuple[Seed, ...],
    Meta(min_length=1, description=f"a number of seeds in [1, {MOST_SEEDS}], or distinct seeds"),
]
Labels = Annotated[tuple[str, ...], Meta(min_length=1, description="one or more distinct strings")]
Values = Annotated[tuple[Any, ...], Meta(min_length=1, description="a list of values")]
Grid = Annotated[dict[str, Values], Meta(min_length=1, description="lists of values by parameter")]
Tuned = Annotated[
    dict[str, Annotated[Parameters, Meta(description="a table of parameters")]],
    Meta(description="a table of parameters by label"),
]
Measure = Literal["regret", "reward", "missed", "ctr", "rand_index", "n_clusters"]
"""What the panels of a figure can show: expected loss against the best lists; clicks; clicks that
the best lists would have had; share of rounds with a click; agreement of the clusters with the true
ones; number of clusters."""


class FileTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of an experiment file. Lists of names and of seeds have no entry twice."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            plain = isinstance(value, tuple) and all(isinstance(v, str | int) for v in value)
            if plain and len(set(value)) < len(value):
                raise ValueError(f"{name} must be distinct, got {list(value)}")


class Panel(FileTable, frozen=True):
    """One picture of a figure: an environment, the same for every policy.

    Without ``rounds`` and ``k`` of its own it has those of the experiment.
    """

    title: Text
    environment: Text
    parameters: Parameters = {}
    rounds: Whole | None = None
    k: Whole | None = None
    policies: Labels | None = None
    """Labels of the policies that run here; None: all."""
    tuned: Tuned = {}
    """By label: values of tuned parameters to use here. These policies are not tuned again."""


class Contender(FileTable, frozen=True):
    """One line of every picture: a policy of the registry with its parameters."""

    label: Text
    policy: Text
    parameters: Parameters = {}
    tune: Grid = {}
    """Values to try for some of the parameters; empty: nothing is tuned."""
    sweep: Grid = {}
    """Values for some of the parameters, each a line of its own; empty in what was read."""

    def at(self, point: Mapping[str, Any]) -> Contender:
        """Return this policy with the values of a point, and nothing to tune.

        A parameter ``policy.beta`` is the ``beta`` of the policy inside.
        """
        values = {**self.parameters, **{n: value for n, value in point.items() if "." not in n}}
        if inner := {n.removeprefix(INNER): v for n, v in point.items() if n.startswith(INNER)}:
            values["policy"] = {**values["policy"], **inner}
        return Contender(self.label, self.policy, values)


class Tune(FileTable, frozen=True):
    """How tuned parameters are chosen: on seeds of their own, with one budget for all.

    ``rounds`` is the longest tuning run, in rounds or as a share of the runs themselves (None: as
    long as these), ``budget`` how many points a policy may try in a panel.
    """

    seeds: Seeds
    rounds: TuningRounds | None = None
    budget: Whole = 48


class TuneChanges(FileTable, frozen=True):
    """What ``[quick.tune]`` changes."""

    seeds: Seeds | None = None
    rounds: TuningRounds | None = None
    budget: Whole | None = None


class Changes(FileTable, frozen=True):
    """What ``[quick]`` changes, or the caller."""

    rounds: Whole | None = None
    seeds: Seeds | None = None
    tune: TuneChanges | None = None


class Length(FileTable, frozen=True):
    """Rounds of the longest panel, and number of seeds."""

    rounds: Whole
    seeds: Whole


class Experiment(FileTable, frozen=True):
    """Panels x policies x seeds, and how long each of these cells runs."""

    title: Text
    rounds: Whole
    k: Whole
    seeds: Seeds
    panels: Annotated[
        tuple[Panel, ...], Meta(min_length=1, description="one or more tables [[panels]]")
    ]
    policies: Annotated[
        tuple[Contender, ...], Meta(min_length=1, description="one or more tables [[policies]]")
    ]
    figure: Whole | None = None
    """Number of the paper's figure, or None."""
    points: Whole = 200
    """Points of a curve: a run is recorded every ``rounds // points`` rounds."""
    measure: Measure = "regret"
    """What the panels show."""
    tune: Tune | None = None
    """How tuned parameters are chosen; None where nothing is tuned."""
    full: Length | None = None
    """What the file asks for, whatever ``--quick``, ``--rounds`` or ``--seeds`` made of it."""

    @property
    def longest(self) -> int:
        """Rounds of the longest runs."""
        return max(self.rounds_of(panel) for panel in self.panels)

    @property
    def first_look(self) -> bool:
        """Whether this is less than the experiment file asks for: fewer rounds or seeds."""
        full = self.full
        return full is not None and (self.longest < full.rounds or len(self.seeds) < full.seeds)

    def step(self, rounds: int) -> int:
        """Rounds between two points of a curve of that many rounds."""
        return max(1, rounds // self.points)

    def rounds_of(self, panel: Panel) -> int:
        """Rounds of the runs of a panel."""
        return self.rounds if panel.rounds is None else panel.rounds

    def k_of(self, panel: Panel) -> int:
        """Length of the lists of a panel."""
        return self.k if panel.k is None else panel.k

    def policies_of(self, panel: Panel) -> tuple[Contender, ...]:
        """The policies that run on a panel, in the order of the experiment."""
        wanted = panel.policies
        return tuple(c for c in self.policies if wanted is None or c.label in wanted)


class ExperimentFile(Experiment, frozen=True):
    """An experiment with the keys that shorten its file.

    ``extends`` names a file whose keys count where this one says nothing, ``all_panels`` is what
    panels have in common, ``quick`` what ``--quick`` changes.
    """

    extends: Text | None = None
    all_panels: Parameters = {}
    quick: Changes | None = None


Kind = TypeVar("Kind", bound=FileTable)


def read_table(content: Mapping[str, Any], kind: type[Kind]) -> Kind:
    """Make a table of what was read from TOML; what is wrong is an InvalidConfig.

    >>> read_table({"seeds": [1], "budget": 0}, Tune)
    Traceback (most recent call last):
        ...
    clubcascade.errors.InvalidConfig: budget must be a whole number >= 1, got 0
    """
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise InvalidConfig(_sentence(str(error), content, inspect.type_info(kind))) from None


def _sentence(error: str, content: Any, info: inspect.Type) -> str:
    """Turn an error of msgspec into where it is, what is allowed there, and the value got."""
    text, _, path = error.partition(" - at `$")
    where, expected = "", "a table"
    for key in re.findall(r"(\.\w+|\[\d+\]|\[\.\.\.\])", path):
        name = key.strip(".[]")
        if isinstance(info, inspect.StructType):
            info = next(field.type for field in info.fields if field.name == name)
        elif isinstance(info, inspect.DictType):
            name = _wrong(content, info)
            info, key = info.value_type, f".{name}"
        elif isinstance(info, inspect.VarTupleType):
            info = info.item_type
        content = content[int(name) if key[0] == "[" else name]
        where += key
        expected, info = _unwrapped(info)
    where = where.lstrip(".")
    if found := re.match(r"Object (contains unknown|missing required) field `(.*)`", text):
        place, name = where or "the experiment file", found[2]
        if found[1] == "missing required":
            return f"missing key {name!r} in {place}"
        assert isinstance(info, inspect.StructType)
        return str(unknown_name("key", name, [field.name for field in info.fields], place))
    if not text.startswith(("Expected", "Invalid")):  # of ours
        return f"{where}.{text}" if where else text
    near = ""
    if isinstance(info, inspect.LiteralType):
        known = [str(value) for value in info.values]
        close = difflib.get_close_matches(str(content), known, n=1)
        expected = f"one of {', '.join(known)}"
        near = f"; did you mean {close[0]!r}?" if close else ""
    return f"{where} must be {expected}, got {brief(content)}{near}"


def _unwrapped(info: inspect.Type) -> tuple[str, inspect.Type]:
    """Return the description of a type, and the type without it and without None."""
    described = "a table"
    while isinstance(info, inspect.UnionType | inspect.Metadata):
        if isinstance(info, inspect.UnionType):
            info = info.types[0]
        else:
            described = (info.extra_json_schema or {}).get("description", described)
            info = info.type
    return described, info


def _wrong(content: Mapping[str, Any], info: inspect.DictType) -> str:
    """Return the first key of a table whose value is of another kind: msgspec does not name it."""
    tables = isinstance(_unwrapped(info.value_type)[1], inspect.DictType)

    def fits(value: Any) -> bool:
        return isinstance(value, Mapping) if tables else isinstance(value, list) and bool(value)

    return next(key for key, value in content.items() if not fits(value))
