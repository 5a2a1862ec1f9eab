"""The table of what lists are worth, beside others, and the sentence that sums it up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clubcascade.features.base import Saved
from clubcascade.training.measures import MEASURES, Worth, interval

OURS = "clubcascade"
POPULARITY = "popularity"


class Row(NamedTuple):
    """One way to make lists: every measure as mean, low and high end of its interval."""

    name: str
    precision: tuple[float, float, float]
    recall: tuple[float, float, float]
    ndcg: tuple[float, float, float]
    shown: float


@dataclass(eq=False)
class WorthTable(Saved):
    """What lists of ``k`` are worth on the last part of the log.

    Attributes
    ----------
    k
        Length of the lists.
    n_users
        Users whose lists were judged.
    rows
        A row per way to make lists.
    sentence
        Whether the lists are better than popularity.
    """

    k: int
    n_users: int
    rows: list[Row]
    sentence: str

    def __post_init__(self) -> None:
        self.rows = [Row(*row) for row in self.rows]

    @classmethod
    def of(cls, k: int, found: dict[str, Worth], seed: int = 0) -> WorthTable:
        """Judge the measures of every way; one of them is ours, one popularity."""
        rows = []
        for name, one in found.items():
            cells = [(one.mean(m), *interval(one.values[m], seed)) for m in MEASURES]
            rows.append(Row(name, cells[0], cells[1], cells[2], one.shown))
        n_users = len(found[OURS].values["ndcg"])
        return cls(k, n_users, rows, _sentence(k, found, seed))

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def __str__(self) -> str:
        k = self.k
        heads = ["", f"precision@{k}", f"recall@{k}", f"NDCG@{k}", "catalogue shown"]
        lines = [heads]
        for row in self.rows:
            cells = [f"{m:.4f} ({lo:.4f}-{hi:.4f})" for m, lo, hi in row[1:4]]
            lines.append([row.name, *cells, f"{row.shown:.1%}"])
        widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
        texts = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*texts, self.sentence])


def _sentence(k: int, found: dict[str, Worth], seed: int) -> str:
    ours, popular = found[OURS], found[POPULARITY]
    if len(ours.values["ndcg"]) < 2:
        return "One user alone was judged: that does not say what these lists are worth."
    low, high = interval(ours.values["ndcg"] - popular.values["ndcg"], seed)
    numbers = (
        f"NDCG@{k} {ours.mean('ndcg'):.4f} against {popular.mean('ndcg'):.4f}, difference "
        f"{low:+.4f} to {high:+.4f} (95%, bootstrap over {len(ours.values['ndcg']):,} users)"
    )
    if low > 0:
        first = f"These lists are better than popularity: {numbers}."
    elif high < 0:
        first = (
            f"Popularity is better than these lists: {numbers}. Show the popular list until there "
            f"are more clicks, or better columns in the table of items."
        )
    else:
        first = f"These lists and popularity do not differ clearly: {numbers}."
    others = {
        name: interval(ours.values["ndcg"] - one.values["ndcg"], seed)[1]
        for name, one in found.items()
        if name not in (OURS, POPULARITY)
    }
    better = [name for name, most in others.items() if most < 0]
    return first + (f" Better than these lists: {', '.join(better)}." if better else "")
