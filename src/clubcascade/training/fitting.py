"""A policy from clicks without lists: its features, its warm start, and what predicts best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clubcascade.core import Floats, Policy
from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import InvalidArgument
from clubcascade.features import FeatureMaker, TableFeatures
from clubcascade.features.log import ClickLog
from clubcascade.kernels.cohort_constants import PRECISIONS
from clubcascade.policies import policy_class
from clubcascade.policies._warm_start import check_can_start, start_from_sums
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.policies.multiple_lin_ucb import MultipleLinUCB
from clubcascade.training.choosing import Setting, by_item, feature_makers
from clubcascade.training.measures import Held, worth
from clubcascade.training.sums import estimates, sums
from clubcascade.validation import brief

Losses = Mapping[int, float]


class Fit:
    """How policies are made: their class and parameters, the table of items, the seed."""

    def __init__(
        self, policy: str | type[Policy], params: Mapping[str, Any] | None, seed: int
    ) -> None:
        kind: Any = policy_class(policy) if isinstance(policy, str) else policy
        if not (isinstance(kind, type) and issubclass(kind, Policy)):
            raise InvalidArgument(f"policy must be the name or the class of one, got {brief(kind)}")
        if params is not None and not isinstance(params, Mapping):
            raise InvalidArgument(f"params must map names to values, got {brief(params)}")
        self.kind: Any = kind
        self.params, self.seed = dict(params or {}), seed
        if not hasattr(kind, "user_weights"):
            raise InvalidArgument(f"policy must be linear in features, got {kind.__name__}")
        if "n_features" in self.params:
            raise InvalidArgument(
                "params must not hold n_features, which is chosen; see n_features"
            )
        try:
            self.new(Setting(2, 1.0, 0.0, 1.0), 2)
        except TypeError as error:
            raise InvalidArgument(f"params must be those of {kind.__name__}, got {error}") from None

    @property
    def around_everyone(self) -> bool:
        """Whether users' weights are drawn towards everyone's."""
        return bool(self.kind is not MultipleLinUCB)

    def new(self, setting: Setting, n_features: int) -> Policy:
        """Return a policy that has learned nothing."""
        params = dict(self.params)
        if self.kind is MultipleLinUCB:
            params.setdefault("reg", setting.precision)
        if self.kind is CohortCascade:
            params.setdefault("seed", self.seed)
        policy: Policy = self.kind(n_features=n_features, **params)
        return policy

    def check(self) -> None:
        """Raise unless the policy can start from clicks without lists."""
        check_can_start(self.new(Setting(2, 1.0, 0.0, 1.0), 2))

    def from_clicks(
        self,
        log: ClickLog,
        table: TableFeatures | None,
        setting: Setting,
        losses: Losses | None = None,
        progress: Progress = silent,
    ) -> tuple[Policy, FeatureMaker, Floats]:
        """Return a policy that knows these clicks, the features, and the vectors of the items."""
        matrix = log.matrix()
        ((_, _, maker),) = feature_makers(
            log, matrix, table, (setting.n_features,), (setting.table_weight,), self.seed
        )
        vectors = by_item(maker, log.items)
        policy = self.new(setting, maker.n_features)
        start_from_sums(
            policy,
            log.users,
            sums(matrix, vectors, setting.weight, setting.strength, progress),
            clicks=setting.strength * matrix.nnz,
            losses=losses,
            seed=self.seed,
        )
        return policy, maker, vectors

    def losses(self, policy: Policy, log: ClickLog, held: Held, vectors: Floats, k: int) -> Losses:
        """Return by which share each predictor of ``CohortCascade`` is worse than the best one."""
        if not isinstance(policy, CohortCascade) or not len(held.users):
            return {}
        users = [log.users[user] for user in held.users.tolist()]
        parts = [policy.statistics(user) for user in users]
        gram, moment = np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
        everyone = np.tile(policy._cohorts.models.arrays["weights"][0], (len(users), 1))
        cohort = np.array([policy.cluster_weights(user) for user in users])
        weights: list[Floats] = []
        for mean in (everyone, cohort):
            weights += [estimates(gram, moment, mean, p) for p in PRECISIONS.tolist()]
            weights.append(mean)
        found = (worth(held, held.scores(each, vectors), k) for each in weights)
        return _losses([each.values["ndcg"] for each in found])


def _losses(found: list[Floats]) -> Losses:
    """Return the losses of predictors from the NDCG of every user under each.

    Where the best one beats everyone's weights by less than two standard errors, the strongest
    precision that is as good by that measure is taken for the best: it is the largest of many
    numbers, and with few clicks that is luck.
    """
    means = np.array([values.mean() for values in found])
    best = int(means.argmax())
    losses = (means[best] - means) / max(float(means[best]), 1e-12)
    n = len(found[0])
    error = [float((found[best] - values).std()) / np.sqrt(n) for values in found]
    alone = len(PRECISIONS)  # everyone's weights
    if means[best] - means[alone] <= 2.0 * error[alone]:
        good = [p for p in range(alone) if means[best] - means[p] <= 2.0 * error[p]]
        best = good[0] if good else best
        losses[best] = 0.0
        losses[np.arange(len(losses)) != best] += 0.01
    return dict(enumerate(losses.tolist()))
