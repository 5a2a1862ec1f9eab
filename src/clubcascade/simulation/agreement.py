"""How well the clusters that were found agree with the true ones."""

import numpy as np
import numpy.typing as npt

from clubcascade.core import Ints


def adjusted_rand_index(ours: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Agreement of two partitions, given as the label of each member; 1 is perfect, 0 is chance.

    References
    ----------
    Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1], ["a", "a", "b"])
    1.0
    >>> round(adjusted_rand_index([0, 0, 1, 1], ["a", "b", "a", "b"]), 9)
    -0.5
    """

    def pairs_within(labels: Ints) -> float:
        counts = np.bincount(labels)
        return float((counts @ (counts - 1)) / 2)

    _, left = np.unique(np.asarray(ours), return_inverse=True)
    _, right = np.unique(np.asarray(true), return_inverse=True)
    if left.size == 0:
        return 1.0
    both = left * (right.max() + 1) + right
    if both.max() > 16 * both.size + 1024:  # too many possible pairs of labels to count each
        _, both = np.unique(both, return_inverse=True)
    together, in_ours, in_true = pairs_within(both), pairs_within(left), pairs_within(right)
    everything = left.size * (left.size - 1) / 2
    expected = in_ours * in_true / everything if everything else 0.0
    most = (in_ours + in_true) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)
