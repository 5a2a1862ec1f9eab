"""Many numbers to few: text by TF-IDF, vectors of one's own, both by a truncated SVD."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd

from clubcascade.core import Floats
from clubcascade.errors import InvalidData
from clubcascade.features.encoders import FAR, Encoder
from clubcascade.validation import brief

TEXT_FEATURES = 16
VECTOR_FEATURES = 32
_MOST_TERMS = 20_000
_COMMON = 0.5
"""Share of the texts beyond which a term says nothing."""


def truncated_svd(matrix: Any, rank: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return ``U, S, V'`` of the largest singular values, at most ``rank``, all above 0."""
    rank = min(rank, *matrix.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        u, s, vt = randomized_svd(matrix, rank, n_iter=5, random_state=seed)
    kept = s > 1e-9 * max(float(s.max(initial=0.0)), 1e-300)
    return u[:, kept], s[kept], vt[kept]


@dataclass(eq=False)
class TextEncoder(Encoder):
    """Texts by the weights of their terms (TF-IDF), reduced to a few directions."""

    terms: list[str]
    idf: Floats
    components: Floats

    @classmethod
    def fit(cls, column: pl.Series, where: str, rank: int = TEXT_FEATURES) -> Self:
        """Learn terms, their weights, and the directions."""
        texts = _texts(column)
        least = 2 if len(texts) >= 20 else 1
        frequent = TfidfVectorizer(
            max_features=_MOST_TERMS, min_df=least, max_df=_COMMON if len(texts) >= 20 else 1.0,
            sublinear_tf=True, stop_words="english",
        )  # fmt: skip
        try:
            weights = frequent.fit_transform(texts)
        except ValueError:  # no term is left
            none = "no words that come back: no feature"
            return cls([], np.zeros(0), np.zeros((0, 0)), said=none)
        _, s, vt = truncated_svd(weights, rank)
        share = float((s**2).sum() / max(weights.multiply(weights).sum(), 1e-300))
        terms = [str(term) for term in frequent.get_feature_names_out()]
        said = f"{len(terms):,} terms in {len(s)} directions, {share:.0%} of their variance"
        idf = np.asarray(frequent.idf_, np.float64)
        return cls(terms, idf, vt.T.astype(np.float64), said=said)

    def encode(self, column: pl.Series, where: str) -> Floats:
        """Return the directions of texts."""
        if not self.terms:
            return np.zeros((len(column), 0))
        known = TfidfVectorizer(vocabulary=self.terms, sublinear_tf=True, stop_words="english")
        known.idf_ = self.idf
        return np.asarray(known.transform(_texts(column)) @ self.components)

    def check(self) -> None:
        """Raise a ValueError unless there is a weight and a row of components for each term."""
        n = len(self.terms)
        if self.idf.shape != (n,) or self.components.shape[:1] != (n,):
            raise ValueError(f"idf and components must be of {n} terms")
        if len(set(self.terms)) != n or not np.isfinite(self.components).all():
            raise ValueError("terms must be distinct, components finite")


@dataclass(eq=False)
class VectorEncoder(Encoder):
    """Vectors of one's own, for example of a language model, reduced to a few directions."""

    mean: Floats
    components: Floats

    @classmethod
    def fit(cls, column: pl.Series, where: str, rank: int = VECTOR_FEATURES) -> Self:
        """Learn the mean and the directions of largest variance."""
        rows = vectors_of(column, where)
        there = np.isfinite(rows).all(axis=1)
        some = rows[there]
        mean = some.mean(axis=0) if len(some) else np.zeros(rows.shape[1])
        centred = some - mean
        total = float((centred**2).sum())
        if not total > 0:
            return cls(mean, np.zeros((len(mean), 0)), said="the same for all: no feature")
        _, s, vt = truncated_svd(centred, rank)
        said = f"{len(s)} of {len(mean)} directions, {(s**2).sum() / total:.0%} of the variance"
        if len(some) < len(rows):
            said += f"; {len(rows) - len(some):,} without a vector count as the mean"
        return cls(mean, vt.T.astype(np.float64), said=said)

    def encode(self, column: pl.Series, where: str) -> Floats:
        """Return the directions of vectors; 0 where there is none."""
        rows = vectors_of(column, where, len(self.mean))
        return np.nan_to_num((rows - self.mean) @ self.components)

    def check(self) -> None:
        """Raise a ValueError unless there is a row of components for each number of the mean."""
        wide, shape = self.mean.shape, self.components.shape
        if len(wide) != 1 or shape[:1] != wide or len(shape) != 2:
            raise ValueError(f"components must be of {wide} numbers, got {shape}")
        if not (np.isfinite(self.mean).all() and np.isfinite(self.components).all()):
            raise ValueError("mean and components must be finite")


def vectors_of(column: pl.Series, where: str, length: int | None = None) -> Floats:
    """Return a column of vectors as a matrix, rows of NaN where a cell is empty."""
    if column.dtype == pl.String:
        cells = [_json_vector(text, column.name, row, where) for row, text in enumerate(column)]
        column = pl.Series(column.name, cells, dtype=pl.List(pl.Float64), strict=False)
    if column.dtype not in (pl.List, pl.Array):
        raise InvalidData(
            f"{where} must have vectors in column {column.name!r}, got {column.dtype}"
        )
    lengths = column.cast(pl.List(pl.Float64), strict=False).list.len()
    wanted = length or int(lengths.drop_nulls().to_numpy().max(initial=0))
    bad = (lengths.is_not_null() & (lengths != wanted)).to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidData(
            f"{where} must have vectors of {wanted} numbers in column {column.name!r}, got "
            f"{lengths[row]} in row {row + 1}"
        )
    out = np.full((len(column), wanted), np.nan)
    there = lengths.is_not_null().to_numpy()
    if wanted and there.any():
        flat = column.drop_nulls().cast(pl.List(pl.Float64), strict=False).explode()
        out[there] = flat.fill_null(np.nan).to_numpy().reshape(-1, wanted)
    out[~(np.abs(out) < FAR).all(axis=1)] = np.nan
    return out


def _json_vector(text: str | None, name: str, row: int, where: str) -> list[float] | None:
    if text is None or not text.strip():
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(each, int | float) for each in found):
        raise InvalidData(
            f"{where} must have vectors in column {name!r}, as JSON lists of numbers, got "
            f"{brief(text)} in row {row + 1}"
        )
    return [float(each) for each in found]


def _texts(column: pl.Series) -> list[str]:
    if column.dtype in (pl.List, pl.Array):
        return [" ".join(map(str, cell or ())) for cell in column.to_list()]
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise InvalidData(f"text must be in column {column.name!r}, got {column.dtype}")
    return column.cast(pl.String).fill_null("").to_list()


def csr(
    users: npt.NDArray[Any], items: npt.NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return the 0/1 matrix of clicks; pairs that come back count once."""
    ones = np.ones(len(users), np.float32)
    matrix = sparse.csr_array((ones, (users, items)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix
