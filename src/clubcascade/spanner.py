"""Barycentric spanners: a few items of which every other one is a tame combination.

References
----------
Awerbuch and Kleinberg, "Online linear optimization and adaptive routing", Journal of Computer and
System Sciences 74, 2008, Section 2.1.
"""

import numpy as np
import numpy.typing as npt

from clubcascade import validation

ROUNDING = 1e-9
"""How far above its bound a coefficient may lie before it counts: rounding, not a better item."""


def barycentric_spanner(items: npt.ArrayLike, *, factor: float = 1.0) -> npt.NDArray[np.intp]:
    """Return the rows of a barycentric spanner, rising: every item is a combination of these.

    All coefficients lie in ``[-factor, factor]``. The rows are as many as the rank of the set: of
    items that do not span all directions, it is a spanner of the directions that they do span, and
    of items that are all zero it is empty.

    An exact spanner (``factor`` 1) is what remains when no exchange of one item enlarges the
    volume that the chosen ones span. With a factor above 1 an exchange must enlarge it by more than
    that, so that there are at most ``r log(r) / log(factor)`` of them or so for a set of rank r.

    Parameters
    ----------
    items
        One row of features per item, of Euclidean norm at most 1; duplicates and zeros may be
        among them.
    factor
        The largest coefficient, C in the paper of Awerbuch and Kleinberg; at least 1.

    Examples
    --------
    >>> barycentric_spanner([[0.1, 0.0], [0.9, 0.0], [0.0, 0.5], [0.3, 0.1]])
    array([1, 2])
    >>> barycentric_spanner([[0.6, 0.8], [0.3, 0.4]])
    array([0])
    """
    rows = validation.feature_rows("items", items)
    factor = validation.number("factor", factor, low=1)
    even = _evened(rows)
    chosen = _first_choice(even)
    while chosen.size:
        share = coefficients(even, chosen)
        item, place = np.unravel_index(int(np.argmax(np.abs(share))), share.shape)
        if abs(share[item, place]) <= factor * (1 + ROUNDING):
            break
        chosen[place] = item
    return np.sort(chosen)


def coefficients(
    items: npt.NDArray[np.float64], chosen: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Return each item as a combination of the ``chosen`` rows: one row of coefficients each.

    Where the items span fewer directions than they have features, these are the coefficients of
    least squares, which reproduce every item of the span.

    >>> items = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, -0.5]])
    >>> coefficients(items, np.array([0, 1]))[2]
    array([ 0.5, -0.5])
    """
    basis = items[chosen]
    if len(basis) == basis.shape[1]:
        return np.asarray(np.linalg.solve(basis.T, items.T).T, dtype=np.float64)
    return items @ np.linalg.pinv(basis)


def _evened(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the items in coordinates of their span in which they are spread evenly.

    Coefficients are the same in all coordinates, and these lose least to rounding.
    """
    even, sizes, _ = np.linalg.svd(rows, full_matrices=False)
    smallest = sizes[0] * max(rows.shape) * np.finfo(np.float64).eps
    kept: npt.NDArray[np.float64] = even[:, sizes > smallest]
    return kept


def _first_choice(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Choose as many items as there are directions, each the farthest from those before it."""
    rest = rows.copy()
    chosen = np.zeros(rows.shape[1], np.intp)
    for place in range(len(chosen)):
        lengths = np.linalg.norm(rest, axis=1)
        item = chosen[place] = int(np.argmax(lengths))
        axis = rest[item] / lengths[item]
        rest -= np.outer(rest @ axis, axis)
        rest -= np.outer(rest @ axis, axis)  # what rounding left
    return chosen
