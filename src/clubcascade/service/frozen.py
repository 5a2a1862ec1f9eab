"""A copy of all models at one event: what a snapshot is made of, and compared with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.storage import snapshot_codec as snapshots

Parts = tuple[dict[str, Any], dict[str, Any]]
"""All that makes a model: plain values, and arrays."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """The models by name after event ``number``; ``aside`` names those that cannot be read."""

    number: int
    models: dict[str, Parts]
    aside: frozenset[str] = frozenset()

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the parts of the snapshot."""
        plain: dict[str, Any] = {"number": self.number, "models": []}
        arrays: dict[str, Any] = {}
        for place, (name, (about, own)) in enumerate(self.models.items()):
            plain["models"].append([name, about])
            arrays |= {f"{place}.{key}": value for key, value in own.items()}
        return snapshots.write(plain, arrays)

    @classmethod
    def read(cls, data: bytes) -> Frozen:
        """Return what :meth:`chunks` wrote."""
        plain, arrays = snapshots.read(data)
        models: dict[str, Parts] = {}
        for place, (name, about) in enumerate(plain["models"]):
            start = f"{place}."
            own = {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
            models[name] = (about, own)
        return cls(plain["number"], models)


def digest(models: Iterable[tuple[str, Parts]]) -> str:
    """Return the SHA-256 of models: what was learned, items, counters."""
    total = hashlib.sha256()
    for name, (about, own) in models:
        state = {n: v for n, v in about["state"].items() if n != "draws"}
        total.update(_canonical([name, about | {"state": state}]).encode("utf-8", "surrogatepass"))
        for label in sorted(own):
            if label == "state.draws":
                continue  # a place in a stream of random numbers is nothing learned
            value = np.ascontiguousarray(own[label])
            total.update(f"{label} {value.dtype.str} {value.shape};".encode())
            total.update(value.reshape(-1).data.cast("B") if value.size else b"")
    return total.hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(_ordered(model_file.encode(value)), separators=(",", ":"))


def _ordered(value: Any) -> Any:
    """Bring what has no order of its own (sets) into one."""
    if isinstance(value, list):
        return [_ordered(part) for part in value]
    if isinstance(value, dict):
        if list(value) == ["set"]:
            return {"set": sorted(value["set"], key=json.dumps)}
        return {key: _ordered(part) for key, part in value.items()}
    return value
