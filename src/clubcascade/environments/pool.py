"""The paper's replay of ratings: features from the history of some users, replay of the others."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.core import Ints
from clubcascade.environments.changes import Changes
from clubcascade.environments.features import item_features, scaled
from clubcascade.environments.matrix import Matrix
from clubcascade.errors import InvalidArgument

RULES = ("all", "most", "random")


class Pool(Matrix):
    """Users and items drawn from a matrix of clicks, prepared as the paper does it.

    A pool of users and items is taken. Some users of the pool become the history H, whose singular
    vectors are the features of the items; the others are the future F, whose clicks are replayed.
    ``n_users`` of the future and ``n_items`` of the pool are simulated. All draws follow from
    ``seed``.

    Parameters
    ----------
    clicks
        Users x items, an array or sparse matrix of 0 and 1.
    n_users
        Simulated users, at most the users of the pool without the history.
    n_items
        Simulated items, at most the items of the pool.
    n_features
        Features of an item; where H has a smaller rank, the last ones are 0.
    rule
        The pool: ``"all"`` of the matrix, the users and the items with ``"most"`` clicks (ties to
        the first), or a ``"random"`` draw of both.
    pool
        Users and items of the pool, for the rules ``"most"`` and ``"random"``.
    history
        Users of the pool whose clicks make the features; they are not simulated.
    scaling
        ``"largest"`` divides all features by the largest norm and keeps popularity in the norm;
        ``"unit"`` divides each item's by its own. Items without a click in H stay zero.
    arrivals, click, click_rates, changes
        As for :class:`clubcascade.environments.Matrix`.
    seed
        Seed of the draws.

    Attributes
    ----------
    rows, columns
        The simulated users and items, as rows and columns of ``clicks``.
    history_rows
        The users of the history, as rows of ``clicks``.

    References
    ----------
    Section 5, Yelp Dataset and MovieLens Dataset.

    Examples
    --------
    >>> clicks = np.random.default_rng(1).random((60, 50)) < 0.2
    >>> env = Pool(clicks, n_users=30, n_items=40, n_features=5, history=20, seed=7)
    >>> env.n_users, env.n_items, env.n_features
    (30, 40, 5)
    >>> set(env.rows) & set(env.history_rows)
    set()
    """

    def __init__(
        self,
        clicks: Any,
        *,
        n_users: int,
        n_items: int,
        n_features: int = 20,
        rule: Literal["all", "most", "random"] = "all",
        pool: int = 1000,
        history: int = 100,
        scaling: Literal["largest", "unit"] = "largest",
        arrivals: Literal["uniform"] | npt.ArrayLike = "uniform",
        click: ClickModel | None = None,
        click_rates: Sequence[float] = (0.0, 1.0),
        changes: Changes | None = None,
        seed: int = 0,
    ) -> None:
        matrix = _binary(clicks)
        self.rule = validation.choice("rule", rule, RULES)
        self.scaling = validation.choice("scaling", scaling, ("largest", "unit"))
        n_features = validation.whole("n_features", n_features, low=1)
        self.pool, most = validation.whole("pool", pool, low=2), min(matrix.shape)
        if self.rule != "all" and self.pool > most:
            raise InvalidArgument(
                f'pool must be a whole number in [2, {most}] for the rule "{rule}", as clicks has '
                f"{matrix.shape[0]} users and {matrix.shape[1]} items, got {pool!r}"
            )
        seeds = np.random.SeedSequence(validation.whole("seed", seed, low=0)).spawn(4)
        draws = [np.random.default_rng(seed) for seed in seeds]
        users, items = _pool(matrix, self.rule, self.pool, draws[0])
        self.history = validation.whole("history", history, low=1, high=len(users) - 1)
        future = len(users) - self.history
        n_users = validation.whole("n_users", n_users, low=1, high=future)
        n_items = validation.whole("n_items", n_items, low=1, high=len(items))

        past = np.zeros(len(users), dtype=bool)
        past[_draw(len(users), self.history, draws[1])] = True
        self.history_rows: Ints = users[past]
        self.rows: Ints = users[~past][_draw(future, n_users, draws[2])]
        chosen = _draw(len(items), n_items, draws[3])
        self.columns: Ints = items[chosen]
        features = scaled(item_features(matrix[self.history_rows][:, items], n_features), scaling)
        attraction = matrix[self.rows][:, self.columns].toarray()
        super().__init__(
            attraction,
            features[chosen],
            arrivals=arrivals,
            click=click,
            click_rates=click_rates,
            changes=changes,
            seed=seed,
        )


def _binary(clicks: Any) -> sparse.csr_array:
    """Return the clicks as a sparse matrix of booleans, if they are 0 and 1."""
    if not sparse.issparse(clicks):
        try:
            clicks = np.asarray(clicks)
        except ValueError:
            clicks = np.asarray(None)
    wanted = "clicks must be a matrix of 0 and 1, users x items"
    if clicks.ndim != 2 or clicks.dtype.kind not in "buif":
        raise InvalidArgument(f"{wanted}, got shape {clicks.shape} of {clicks.dtype}")
    if clicks.shape[0] < 2 or clicks.shape[1] < 1:
        raise InvalidArgument(
            f"{wanted}, at least 2 users and 1 item, got {clicks.shape[0]} x {clicks.shape[1]}"
        )
    matrix = sparse.csr_array(clicks)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype != np.bool_:
        wrong = matrix.data[(matrix.data != 0) & (matrix.data != 1)]
        if wrong.size:
            raise InvalidArgument(f"{wanted}, got {wrong[0]}")
        matrix = matrix.astype(np.bool_)
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _pool(
    matrix: sparse.csr_array, rule: str, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the users and the items of the pool, ascending."""
    users, items = matrix.shape
    if rule == "all":
        return np.arange(users), np.arange(items)
    if rule == "random":
        return _draw(users, size, rng), _draw(items, size, rng)
    per_user = np.diff(matrix.indptr)
    per_item = np.bincount(matrix.indices, minlength=items)
    return _most(per_user, size), _most(per_item, size)


def _most(counts: npt.NDArray[Any], size: int) -> Ints:
    """Return the places of the largest counts, ties to the first, in ascending order.

    >>> _most(np.array([3, 5, 3, 9, 3]), 3)
    array([0, 1, 3])
    """
    return np.sort(np.argsort(-counts.astype(np.int64), kind="stable")[:size])


def _draw(n: int, size: int, rng: np.random.Generator) -> Ints:
    """Draw ``size`` of the first ``n`` numbers, each once, in ascending order."""
    return np.sort(rng.permutation(n)[:size])
