"""A world of niches: what sets users apart is in few items, which the many never need."""

import numpy as np

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.core import Floats
from clubcascade.environments.arrivals import Arrivals
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument

NICHE_ITEMS = 3
"""Items in the niche of a cluster."""


class Niche(TabularEnvironment):
    """Everybody likes the common items alike; each cluster loves one niche, and nobody else does.

    A niche is a direction of its own, in which it has three items. A model of all users finds a
    niche worth ``love / n_clusters`` on average, less than the best common items, and stops
    showing it: then hardly any user's own estimate learns the direction that tells the clusters
    apart. This is where the paper's assumption fails that what is shown spans all directions; some
    directions no item has at all.

    Parameters
    ----------
    n_users, n_clusters, n_items, n_features
        Sizes. Users are dealt out to the clusters evenly. All but three items per cluster are
        common.
    popular
        Attraction of the best common items; it must be above ``love / n_clusters``.
    love
        Attraction of a niche's best item to its cluster; ``popular ** 2 + love ** 2`` is at most
        1, so that weights have norm at most 1.
    idle
        Directions that no item has.
    arrivals, click
        As for :class:`clubcascade.environments.Synthetic`.
    seed
        Seed of weights, items and clusters. Arrivals and clicks have the seed of the run.

    Examples
    --------
    >>> env = Niche(n_users=6, n_clusters=3, n_items=20, n_features=8, seed=7)
    >>> env.attraction[:, -9:].round(2)[0]
    array([0.8 , 0.76, 0.72, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ])
    >>> int(np.linalg.matrix_rank(env.catalog.features))
    7
    """

    def __init__(
        self,
        *,
        n_users: int,
        n_clusters: int,
        n_items: int,
        n_features: int,
        popular: float = 0.3,
        love: float = 0.8,
        idle: int = 1,
        arrivals: Arrivals = "uniform",
        click: ClickModel | None = None,
        seed: int = 0,
    ) -> None:
        n_users = validation.whole("n_users", n_users, low=1)
        m = validation.whole("n_clusters", n_clusters, low=1, high=n_users)
        n_items = validation.whole("n_items", n_items, low=NICHE_ITEMS * m + 1)
        self.idle = validation.whole("idle", idle, low=0)
        d = validation.whole("n_features", n_features, low=m + self.idle + 2)
        self.popular = validation.number("popular", popular, low=0, open_low=True, high=1)
        self.love = validation.number("love", love, low=0, open_low=True, high=1)
        if not self.love / m < self.popular or self.popular**2 + self.love**2 > 1:
            raise InvalidArgument(
                f"popular and love must satisfy love / n_clusters < popular and "
                f"popular^2 + love^2 <= 1, got {popular!r} and {love!r} for {m} clusters"
            )
        self.seed = validation.whole("seed", seed, low=0)
        rng = np.random.default_rng(self.seed)
        axes = np.linalg.qr(rng.standard_normal((d, d)))[0].T[: d - self.idle]
        self.weights = self.popular * axes[0] + self.love * axes[-m:]
        lengths = 1.0 - 0.05 * np.arange(NICHE_ITEMS)  # the best of a niche has length 1
        niches = (axes[-m:, None, :] * lengths[None, :, None]).reshape(-1, d)
        features = np.concatenate([_common(n_items - len(niches), axes[:-m], rng), niches])
        clusters = rng.permutation(np.arange(n_users) % m)
        super().__init__(
            features,
            np.clip(self.weights @ features.T, 0.0, 1.0),
            clusters,
            arrivals=arrivals,
            click=click,
            partition=clusters,
        )


def _common(n: int, axes: Floats, rng: np.random.Generator) -> Floats:
    """Draw unit vectors of which a random part is along the first axis, the one that all like."""
    liked = rng.uniform(0.3, 1.0, (n, 1))
    rest = rng.standard_normal((n, len(axes) - 1))
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    return np.asarray(liked * axes[0] + np.sqrt(1.0 - liked**2) * rest @ axes[1:])
