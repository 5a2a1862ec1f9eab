"""Section 4, discussions; and the start of Section 5: what speeds the algorithm up."""

from __future__ import annotations

from clubcascade.report.claims import discussion_checks as checks
from clubcascade.report.claims.claim import Claim
from clubcascade.report.claims.synthetic_checks import CORRECT

WHERE = "4. Algorithm and Results, Discussions"

DISCUSSION = (
    Claim(
        WHERE,
        "Our algorithm explores clustering structures adaptively: It starts with one cluster, then "
        "finds finer and finer clustering until the cluster distance reaches γ.",
        "Number of clusters from the complete start: 1 at first, and at the last round the true "
        "number.",
        ("synthetic", "recovery", "fresh"),
        checks.refines_until_true,
    ),
    Claim(
        WHERE,
        "The uniform user appearance assumption means that the users we take care of are on the "
        "same activity level, which is easier for us to deal with.",
        "Regret of CLUB-cascade at the last round: users that come equally often against users "
        "that do not, in worlds that are the same otherwise.",
        ("activity",),
        checks.uniform_is_easier,
    ),
    Claim(
        WHERE,
        "This assumption is to guarantee the shrinkage of confidence ellipsoid when estimating "
        "individual weight vector, thus to distinguish different weight vectors after collecting "
        "enough information.",
        f"With fresh items in every round, as the assumption wants them: adjusted Rand index of "
        f"CLUB-cascade's clusters at the last round at least {CORRECT}.",
        ("fresh",),
        checks.fresh_items_tell_users_apart,
    ),
    Claim(
        WHERE,
        "Thus a bigger cluster can be split into two smaller clusters only when all edges between "
        "these two smaller clusters have been deleted, which might take quite a long time.",
        "Rounds until there are as many clusters as in truth: complete start against the sparse "
        "random start. A run that never has them takes longer than one that has; two such runs "
        "say nothing.",
        ("start", "synthetic"),
        checks.complete_splits_later,
    ),
    Claim(
        WHERE,
        "To accelerate our algorithm, a random graph initialization for all users might be "
        "adopted.",
        "Sparse random start against the complete start: regret at the last round, and time of a "
        "round where it was measured.",
        ("start", "synthetic"),
        checks.sparse_is_faster,
    ),
)

ACCELERATION = (
    Claim(
        "5. Experiments",
        "To accelerate our algorithm, we use a sparse initialization instead of the complete graph "
        "initialization, similar in (Gentile, Li, and Zappella 2014).",
        "Sparse random start against the complete start: regret at the last round, and time of a "
        "round where it was measured.",
        ("start", "synthetic"),
        checks.sparse_is_faster,
    ),
)
