"""The editions of MovieLens, and the terms under which GroupLens gives them away."""

from typing import NamedTuple

SERVER = "https://files.grouplens.org/datasets/movielens/"


class Edition(NamedTuple):
    """One published data set; an edition that changes has no number of ratings and no checksum."""

    title: str
    archive: str
    """Its file on GroupLens' server; the folder in it has the same name."""
    ratings: int | None
    md5: str | None
    """The checksum that GroupLens published; by default the one beside the file is taken."""
    passing_on: str
    """What its terms say about giving it to others."""

    @property
    def folder(self) -> str:
        """The folder in the archive."""
        return self.archive.removesuffix(".zip")


_NO = "you may not redistribute it without permission"
_SAME = "you may redistribute it only under the same terms"
_README = "whether you may redistribute it, its full terms say"

EDITIONS = {
    "20m": Edition(
        "MovieLens 20M", "ml-20m.zip", 20_000_263, "cd245b17a1ae2cc31bb14903e1204af3", _NO
    ),
    "25m": Edition(
        "MovieLens 25M", "ml-25m.zip", 25_000_095, "6b51fb2759a8657d3bfcbfc42b592ada", _README
    ),
    "32m": Edition(
        "MovieLens 32M", "ml-32m.zip", 32_000_204, "d472be332d4daa821edc399621853b57", _SAME
    ),
    "1m": Edition("MovieLens 1M", "ml-1m.zip", 1_000_209, "c4d9eecfca2ab87c1945afe126590906", _NO),
    "latest-small": Edition("MovieLens latest small", "ml-latest-small.zip", None, None, _SAME),
}
"""The editions by name; the first is the paper's."""


def short_terms(edition: Edition) -> str:
    """Return the terms of an edition in one line, to be kept with the data."""
    return (
        f"GroupLens: research use, not commercial without permission; {edition.passing_on}; "
        f"acknowledge it in publications (Harper and Konstan 2015)"
    )


def terms_of(edition: Edition) -> str:
    """Return the terms of an edition, to be shown before it is fetched."""
    readme = f"{SERVER}{edition.folder}-README.{'txt' if edition.folder == 'ml-1m' else 'html'}"
    return f"""\
{edition.title} belongs to GroupLens, University of Minnesota. In short, its terms are:
  - it may be used for research;
  - you may not state or imply that the University or GroupLens endorses you;
  - you must acknowledge it in publications: F. M. Harper and J. A. Konstan, "The MovieLens
    Datasets: History and Context", ACM TiiS 5(4), 2015;
  - {edition.passing_on};
  - you may not use it commercially without permission.
The full text: {readme} (also in the archive)."""
