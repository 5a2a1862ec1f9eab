"""A trained model: a policy, the features of its items, and what is known of them; one file."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from clubcascade import model_file, validation
from clubcascade.core import Feedback, Floats, Ints, Policy
from clubcascade.errors import ClubCascadeError, InvalidArgument, ModelFileError
from clubcascade.features import FeatureMaker
from clubcascade.features.base import checked_ids, restore
from clubcascade.features.cells import natural_ids
from clubcascade.features.rows import as_known, id_column, texts_to_ids
from clubcascade.features.tables import Table, open_table
from clubcascade.model_file import join_state, split_state
from clubcascade.policies import restored
from clubcascade.training.items import ItemTable
from clubcascade.training.measures import top_k
from clubcascade.training.table import WorthTable

MAGIC = "clubcascade trained model"
FORMAT = 1


class Trained:
    """What :func:`clubcascade.train` returns: lists for users, and everything they come from.

    Attributes
    ----------
    policy
        The policy, which learns on with every list.
    features
        The maker of the items' vectors.
    items
        Ids, titles and columns of the items.
    catalog
        The items as policies take them.
    worth
        What the lists are worth on the last part of the log, beside others.
    said
        What was done and what was left out, a sentence each.
    """

    def __init__(
        self,
        policy: Policy,
        features: FeatureMaker,
        items: ItemTable,
        seen: tuple[Ints, Ints],
        users: Sequence[Hashable],
        *,
        worth: WorthTable | None = None,
        said: Sequence[str] = (),
    ) -> None:
        self.policy, self.features, self.items = policy, features, items
        self.worth, self.said = worth, list(said)
        self.catalog = features.catalog()
        self._users = {user: number for number, user in enumerate(users)}
        self._starts, self._clicked = seen
        self._more: dict[Hashable, list[int]] = {}
        number = np.bincount(self._clicked, minlength=len(items)).astype(np.float64)
        self._popular = number

    def __repr__(self) -> str:
        return (
            f"Trained({type(self.policy).__name__}, {len(self._users):,} users, "
            f"{len(self.items):,} items, {self.features.n_features} features)"
        )

    # -- lists ---------------------------------------------------------------------------------

    def scores(self, user: Hashable) -> Floats:
        """Return the score of every item for a user; for one nobody knows its number of clicks."""
        known = as_known(user, self._users)
        if known in self._users or known in self._more:
            weights: Floats = self.policy.user_weights(known)  # type: ignore[attr-defined]
            return self.catalog.features @ weights
        return np.append(self._popular, np.zeros(len(self.items) - len(self._popular)))

    def seen(self, user: Hashable) -> list[Hashable]:
        """Return the items that a user clicked."""
        return [self.items.ids[row] for row in self._seen(user).tolist()]

    def _seen(self, user: Hashable) -> Ints:
        known = as_known(user, self._users)
        more = np.array(self._more.get(known, ()), dtype=np.int64)
        if known not in self._users:
            return more
        number = self._users[known]
        own = self._clicked[self._starts[number] : self._starts[number + 1]]
        return np.concatenate([own.astype(np.int64), more])

    def recommend(
        self,
        user: Hashable,
        k: int = 10,
        *,
        exclude_seen: bool = True,
        explore: bool = False,
    ) -> list[Hashable]:
        """Return the ids of the items to show, best first.

        Parameters
        ----------
        user
            The user's id; a popular list for one nobody knows.
        k
            Length of the list; shorter if there are no more items.
        exclude_seen
            Leave out what the user clicked before.
        explore
            Let the policy explore, as it does when it learns on; else the best items as known.
        """
        k = validation.whole("k", k, low=1)
        model_file.check_id("user", user)
        left = np.arange(len(self.items))
        if exclude_seen:
            left = np.delete(left, self._seen(user))
        if not len(left):
            return []
        k = min(k, len(left))
        if explore:
            known = as_known(user, self._users)
            rows = self.policy.recommend(known, self.catalog.features[left], k)
        else:
            rows = top_k(self.scores(user)[None, left], k)[0]
        return [self.items.ids[row] for row in left[rows].tolist()]

    def update(
        self, user: Hashable, shown: Sequence[Hashable], click: int | None | Feedback
    ) -> None:
        """Learn from the feedback of a user on a shown list of ids, as ``Policy.update`` does."""
        known = as_known(user, self._users)
        rows = [self.items.row(each) for each in validation.listed("shown", shown, "ids")]
        feedback = Feedback.of(click, len(rows))
        self.policy.update(known, self.catalog[rows], feedback)
        clicked = self._more.setdefault(known, [])
        before = set(self._seen(known).tolist())
        clicked += [rows[place] for place in feedback.clicks if rows[place] not in before]

    def add_items(self, new_items: Table) -> list[Hashable]:
        """Add items by their rows of the table; returns their ids."""
        source = open_table(new_items, "new_items")
        name = getattr(self.features, "id_name", None)
        name = name if name in source.columns else id_column(source)
        if name is None:
            raise InvalidArgument(
                f"new_items must have a column of ids (item, item_id, id), got {source.columns}"
            )
        frame = source.frame()
        ids = self._new_ids(texts_to_ids(frame[name], source.name, self.items._places))
        for row, each in enumerate(ids):
            if each is None or each in self.items:
                raise InvalidArgument(
                    f"new_items must have new ids, got {validation.brief(each)} in row {row + 1}"
                )
        vectors = self.features.transform(source)
        catalog = self.catalog.add(vectors, ids)
        self.items, self.catalog = self.items.added(ids, frame), catalog
        return ids

    def _new_ids(self, ids: list[Hashable]) -> list[Hashable]:
        """Return ids as numbers, if those known are numbers and these can be."""
        texts = [each for each in ids if isinstance(each, str)]
        numbers = natural_ids(texts)
        if not all(isinstance(each, int) for each in [*self.items.ids, *numbers]):
            return ids
        as_number = dict(zip(texts, numbers, strict=True))
        return [as_number.get(each, each) if isinstance(each, str) else each for each in ids]

    # -- files ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return arrays and plain values from which it can be made again."""
        users = [*self._users, *(user for user in self._more if user not in self._users)]
        rows = [self._seen(user) for user in users]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        policy = {
            "name": self.policy.registry_name(),
            "params": self.policy.params,
            "state": self.policy.state(),
        }
        return {
            "policy": policy,
            "features": {"kind": self.features.kind, "state": self.features.state()},
            "items": {
                "ids": self.items.ids, "columns": self.items.columns,
                "title": self.items.title_column,
            },
            "vectors": np.array(self.catalog.features),
            "users": users,
            "starts": starts,
            "clicked": np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int32),
            "worth": None if self.worth is None else self.worth.state(),
            "said": self.said,
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, without pickle; :func:`load` reads it."""
        model_file.write_parts(path, MAGIC, FORMAT, *split_state(self.state()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trained:
        """Read what :meth:`save` wrote; what does not fit together is refused."""
        plain, arrays = model_file.read_parts(path, MAGIC, FORMAT)
        try:
            return cls._restored(join_state(plain, arrays))
        except (ClubCascadeError, KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
            raise ModelFileError(
                f"path must be a trained model whose parts fit together, got {os.fspath(path)!r}: "
                f"{e}"
            ) from e

    @classmethod
    def _restored(cls, state: dict[str, Any]) -> Trained:
        features = restore(state["features"]["kind"], state["features"]["state"])
        part = state["policy"]
        policy = restored(part["name"], part["params"], part["state"])
        if policy.n_features != features.n_features:
            raise ValueError(f"policy must have {features.n_features} features")
        items = _checked_items(state["items"])
        starts, clicked = _checked_seen(state["starts"], state["clicked"], len(items))
        users = checked_ids(state["users"])
        if len(users) + 1 != len(starts):
            raise ValueError(f"starts must be those of {len(users)} users")
        worth = None if state["worth"] is None else WorthTable.restore(state["worth"])
        said = [str(line) for line in state["said"]]
        model = cls(policy, features, items, (starts, clicked), users, worth=worth, said=said)
        vectors = state["vectors"]
        if items.ids[: len(features.ids)] != features.ids:
            raise ValueError("items must begin with those of the features")
        if len(items) > len(features.ids):
            model.catalog = model.catalog.add(
                vectors[len(features.ids) :], items.ids[len(features.ids) :]
            )
        return model


def _checked_items(state: dict[str, Any]) -> ItemTable:
    ids, columns = checked_ids(state["ids"]), dict(state["columns"])
    for name, values in columns.items():
        if not isinstance(values, list) or len(values) != len(ids):
            raise ValueError(f"column {name!r} must have {len(ids)} values")
    if state["title"] is not None and state["title"] not in columns:
        raise ValueError(f"title must be a column, got {state['title']!r}")
    return ItemTable(ids, columns, state["title"])


def _checked_seen(starts: Any, clicked: Any, n_items: int) -> tuple[Ints, Ints]:
    starts, clicked = np.asarray(starts), np.asarray(clicked)
    sound = starts.ndim == clicked.ndim == 1 and len(starts) > 0
    if not sound or starts.dtype.kind != "i" or clicked.dtype.kind != "i":
        raise ValueError("starts and clicked must be whole numbers")
    if starts[0] != 0 or starts[-1] != len(clicked) or (np.diff(starts) < 0).any():
        raise ValueError("starts must rise from 0 to the number of clicks")
    if len(clicked) and not (0 <= clicked.min() and clicked.max() < n_items):
        raise ValueError(f"clicked must be places among {n_items} items")
    return starts, clicked
