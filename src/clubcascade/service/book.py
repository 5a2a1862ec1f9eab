"""All models of a recommender, by name: a function of the log's order alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.errors import StoreDamaged, unknown_name
from clubcascade.service.model import Model
from clubcascade.service.records import Event, Learned, ModelMade, read_event
from clubcascade.storage import snapshot_codec as snapshots

AT_ONCE = 64
"""Answers that are learned while lists of the model wait."""


class Book:
    """Models by name, and the number of the last event in them.

    Parameters
    ----------
    run
        How often the store was opened before: what is drawn in one run is drawn in no other.
    """

    def __init__(self, run: int = 0) -> None:
        self.run = run
        self.models: dict[str, Model] = {}
        self.number = 0

    def __getitem__(self, name: str) -> Model:
        try:
            return self.models[name]
        except (KeyError, TypeError):
            raise unknown_name("model", str(name), self.models) from None

    def apply(self, number: int, event: Event) -> None:
        """Take in the next event of the log."""
        if isinstance(event, ModelMade):
            model = Model.made(event, self.run)
            model.version = number
            self.models = self.models | {event.model: model}
        else:
            self.models[event.model].apply(number, event)
        self.number = number

    def learn(self, answers: list[Learned]) -> None:
        """Take in the next events of the log, all of them answers.

        Whoever asks for a list meanwhile waits for ``AT_ONCE`` of them at most.
        """
        for name, of_model in groupby(answers, attrgetter("model")):
            group = list(of_model)
            for start in range(0, len(group), AT_ONCE):
                some = group[start : start + AT_ONCE]
                self.models[name].learn(self.number + len(some), some)
                self.number += len(some)

    def replay(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Take in the next events, numbered and as the log keeps them."""
        answers: list[Learned] = []
        for number, payload in events:
            try:
                event = read_event(payload)
            except (ValueError, KeyError, TypeError) as error:
                raise StoreDamaged(f"event {number} of the log cannot be read: {error}") from error
            if isinstance(event, Learned) and len(answers) < AT_ONCE:
                answers.append(event)
                continue
            self.learn(answers)
            answers = []
            self.apply(number, event)
        self.learn(answers)

    # -- snapshots -----------------------------------------------------------------------------

    def freeze(self) -> Iterator[bytes | memoryview]:
        """Copy everything now; the parts of the snapshot come when they are asked for."""
        plain: dict[str, Any] = {"number": self.number, "models": []}
        arrays: dict[str, Any] = {}
        for place, (name, model) in enumerate(self.models.items()):
            about, own = model.parts()
            plain["models"].append([name, about])
            arrays |= {f"{place}.{key}": value for key, value in own.items()}
        return snapshots.write(plain, arrays)

    @classmethod
    def thaw(cls, data: bytes, run: int = 0) -> Book:
        """Return the book of a snapshot."""
        plain, arrays = snapshots.read(data)
        book = cls(run)
        for place, (name, about) in enumerate(plain["models"]):
            start = f"{place}."
            own = {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
            book.models[name] = Model.from_parts(name, about, own, run)
        book.number = plain["number"]
        return book

    # -- digests -------------------------------------------------------------------------------

    def digest(self, name: str | None = None) -> str:
        """Return the SHA-256 of one model or of all: what was learned, items, counters."""
        total = hashlib.sha256()
        for key in sorted(self.models) if name is None else [name]:
            plain, arrays = self[key].parts()
            plain["state"].pop("draws", None)
            arrays.pop("state.draws", None)  # a place in a stream of luck is nothing learned
            total.update(_canonical([key, plain]).encode("utf-8", "surrogatepass"))
            for label in sorted(arrays):
                value = np.ascontiguousarray(arrays[label])
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
