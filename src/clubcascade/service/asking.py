"""What may be shown: loose items, a catalogue, registered items or some of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Floats
from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.service.model import Model
from clubcascade.service.names import item_names

DEFAULT_MODEL = "default"


class Ask(NamedTuple):
    """What a caller wants to be ranked."""

    user: Hashable
    k: int
    items: npt.ArrayLike | Catalog | None = None
    ids: Sequence[Hashable] | None = None
    candidates: Sequence[Hashable] | None = None
    model: str = DEFAULT_MODEL
    request_id: str | None = None


def offer(target: Model, ask: Ask) -> tuple[Floats | Catalog, Sequence[Hashable]]:
    """Return what may be shown, and its names."""
    items, ids, candidates = ask.items, ask.ids, ask.candidates
    if candidates is not None:
        if items is not None or ids is not None:
            raise InvalidArgument("candidates must be given without items and ids, got both")
        features = target.candidates(candidates)
        if target.policy.n_features is None:
            return Catalog(features, candidates), candidates
        return features, candidates
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
