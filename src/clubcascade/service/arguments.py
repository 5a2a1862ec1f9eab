"""What callers name and offer, checked: users, items, models, policies, what may be shown."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clubcascade import model_file, validation
from clubcascade.core import Catalog, Floats, Ints, Policy
from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.policies import policy_class
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.service.metadata import Picked, read_filter
from clubcascade.service.model import Model

DEFAULT_MODEL = "default"
DEFAULT_POLICY = "cohort_cascade"
"""The policy of a model for which none is named."""
ROOM = 2**28
"""Bytes that the cohorts of a model may take."""
MOST_COHORTS = 256
FEW_SEEN = 256
"""Seen items that are left out of a longer list; more are taken out of what is ranked."""

_MODEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LARGEST = 2**63


# -- names ---------------------------------------------------------------------------------------


def model_name(name: Any) -> str:
    """Return a model's name: letters, digits and ``_-.``, as it stands in addresses."""
    if not isinstance(name, str) or not _MODEL.fullmatch(name) or set(name) <= {"."}:
        raise InvalidArgument(
            f"name must be 1 to 64 letters, digits, '_', '-' or '.', got {validation.brief(name)}"
        )
    return name


def _kept(what: str, value: Any) -> Hashable:
    """Return an id that a store can keep: text without lone surrogates or NUL, an int, ..."""
    if type(value) is str:
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InvalidArgument(f"{what} must be text without NUL and surrogates, got {value!r}")
        return value
    if type(value) is int:
        if not -_LARGEST <= value < _LARGEST:
            raise InvalidArgument(f"{what} must be a whole number of 64 bits, got {value!r}")
        return value
    try:
        hash(value)
        kept = model_file.decode(model_file.encode(value))
    except TypeError:
        raise InvalidArgument(
            f"{what} must be hashable, such as a str or an int, got {type(value).__name__}"
        ) from None
    if isinstance(kept, bool | float | None):
        raise InvalidArgument(f"{what} must be a str or an int, got {value!r}")
    return kept  # type: ignore[no-any-return]


def user_id(user: Any) -> Hashable:
    """Return a user's id as a store keeps it.

    >>> user_id("alice"), user_id(7), user_id(("de", 7))
    ('alice', 7, ('de', 7))
    """
    return _kept("user", user)


def item_names(argument: str, ids: Iterable[Any]) -> tuple[Hashable, ...]:
    """Return the names of items, all different."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise InvalidArgument(f"{argument} must be a list of ids, got {ids!r}")
    if isinstance(ids, range):
        return tuple(ids)
    names = tuple(_kept(argument, name) for name in ids)
    if len(set(names)) != len(names):
        raise InvalidArgument(f"{argument} must be distinct, got a name twice")
    return names


def request_name(request_id: Any) -> str:
    """Return a request id that can be kept."""
    if not isinstance(request_id, str) or not 1 <= len(request_id) <= 200:
        raise InvalidArgument(
            f"request_id must be a str of 1 to 200 characters, got {request_id!r}"
        )
    return str(_kept("request_id", request_id))


# -- what may be shown ---------------------------------------------------------------------------


class Ask(NamedTuple):
    """What a caller wants to be ranked."""

    user: Hashable
    k: int
    items: npt.ArrayLike | Catalog | None = None
    ids: Sequence[Hashable] | None = None
    candidates: Sequence[Hashable] | None = None
    model: str = DEFAULT_MODEL
    request_id: str | None = None
    exclude_seen: bool = False
    filter: str | None = None
    greedy: bool = False
    explore: float | None = None

    @property
    def narrow(self) -> bool:
        """Whether fewer items than asked for may be left."""
        return self.exclude_seen or self.filter is not None


def seen_by(target: Model, ask: Ask) -> set[Hashable]:
    """Return the items that a request leaves out because the user clicked them."""
    if not ask.exclude_seen:
        return set()
    if not target.seen.most:
        raise InvalidArgument(
            f"exclude_seen must be false for model {target.name!r}, which an earlier version "
            f"made: it does not know who clicked what"
        )
    return target.seen.of(ask.user)


def offer(target: Model, ask: Ask) -> tuple[Floats | Catalog, Sequence[Hashable]]:
    """Return what may be shown, and its names; a few seen items may be among it."""
    offered, names = _filtered(target, ask) if ask.filter is not None else _offered(target, ask)
    seen = seen_by(target, ask)
    if len(seen) <= FEW_SEEN:
        return offered, names
    rows = np.array([row for row, name in enumerate(names) if name not in seen], np.int64)
    return _picked(target, offered, names, rows, "exclude_seen")


def _filtered(target: Model, ask: Ask) -> tuple[Floats | Catalog, Sequence[Hashable]]:
    """Return the registered items that a filter leaves."""
    if ask.items is not None or ask.ids is not None:
        raise InvalidArgument("filter must be given without items and ids, got both")
    columns = target.columns()
    left = read_filter(ask.filter)(columns)
    rows = np.flatnonzero(left)
    if ask.candidates is not None:
        rows = target.candidate_rows(ask.candidates)
        rows = rows[left[rows]]
    return _picked(target, columns.catalog, columns.catalog.ids, rows, "filter")


def _picked(
    target: Model, offered: Floats | Catalog, names: Sequence[Hashable], rows: Ints, what: str
) -> tuple[Floats | Catalog, Sequence[Hashable]]:
    if not len(rows):
        raise InvalidItems(f"{what} must leave at least one item to show, got none")
    if len(rows) == len(names):
        return offered, names
    table: Floats = offered._rows if isinstance(offered, Catalog) else offered
    features, picked = table.take(rows, axis=0), Picked(names, rows)
    return (Catalog(features, [*picked]) if target.policy.n_features is None else features), picked


def _offered(target: Model, ask: Ask) -> tuple[Floats | Catalog, Sequence[Hashable]]:
    items, ids, candidates = ask.items, ask.ids, ask.candidates
    if candidates is not None:
        if items is not None or ids is not None:
            raise InvalidArgument("candidates must be given without items and ids, got both")
        catalog = target.registered()
        rows = target.candidate_rows(candidates)
        features, picked = catalog._rows.take(rows, axis=0), Picked(catalog.ids, rows)
        if target.policy.n_features is None:
            return Catalog(features, [*picked]), picked
        return features, picked
    if items is None:
        if ids is not None:
            raise InvalidArgument("ids must be given with items, got ids alone")
        catalog = target.registered()
        return catalog, catalog.ids
    if isinstance(items, Catalog):
        if ids is not None:
            raise InvalidArgument("ids must be left out of a catalogue, which has its own")
        item_names("items", items.ids)
        return items, items.ids
    features = validation.feature_rows("items", items, target.policy.n_features)
    names = range(len(features)) if ids is None else item_names("ids", ids)
    if len(names) != len(features):
        raise InvalidItems(f"ids must name {len(features)} items, got {len(names)} names")
    if target.policy.n_features is None:
        return Catalog(features, names), names
    return features, names


# -- policies ------------------------------------------------------------------------------------


def make_policy(policy: Policy | str | None, n_features: int | None) -> Policy:
    """Return the policy that was given, or make the one that was named."""
    if isinstance(policy, Policy):
        if n_features not in (None, policy.n_features):
            raise InvalidArgument(
                f"n_features must be that of the policy, {policy.n_features}, got {n_features!r}"
            )
        return policy
    if not isinstance(policy, str | None):
        raise InvalidArgument(f"policy must be a policy or the name of one, got {policy!r}")
    kind = policy_class(policy or DEFAULT_POLICY)
    params = {} if n_features is None else {"n_features": n_features}
    try:
        return kind(**sized(kind, params))
    except TypeError as error:
        raise InvalidArgument(
            f"policy must be one that n_features alone makes, got {policy!r}: {error}"
        ) from None


def made_alike(left: Policy, right: Policy) -> bool:
    """Tell whether two policies are of one kind and have the same parameters.

    >>> from clubcascade.policies.c3_ucb import C3UCB
    >>> made_alike(C3UCB(n_features=2), C3UCB(n_features=2)), made_alike(
    ...     C3UCB(n_features=2), C3UCB(n_features=3)
    ... )
    (True, False)
    """
    return type(left) is type(right) and _equal(left.params, right.params)


def _equal(left: Any, right: Any) -> bool:
    """Compare parameters, among which may be arrays: partitions, tables of links."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return bool(np.array_equal(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def sized(kind: type[Policy], params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with as many cohorts as long vectors leave room for.

    >>> sized(CohortCascade, {"n_features": 20}), sized(CohortCascade, {"n_features": 1000})
    ({'n_features': 20}, {'n_features': 1000, 'max_cohorts': 8})
    """
    d = params.get("n_features")
    if kind is not CohortCascade or type(d) is not int or d < 1:
        return params
    each = 4 * 8 * d * d
    asked = params.get("max_cohorts")
    if type(asked) is int and asked * max(each, 1_000) > ROOM:
        raise InvalidArgument(
            f"max_cohorts must be at most {ROOM // max(each, 1_000)} with {d} features, got {asked}"
        )
    most = max(ROOM // each, 1)
    if "max_cohorts" in params or most >= MOST_COHORTS:
        return params
    return params | {"max_cohorts": most}
