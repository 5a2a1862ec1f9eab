"""Section 5, Yelp and MovieLens (Figures 2 and 3)."""

from __future__ import annotations

from clubcascade.report.claims.advantage import READING, ahead_at_the_end
from clubcascade.report.claims.claim import Claim

REAL = (
    Claim(
        "5. Experiments, Synthetic Data",
        "In real applications, the estimated weight vectors will not be too similar so that our "
        "algorithm can easily outperform theirs, which we will see in the next experiments.",
        READING,
        ("yelp", "movielens"),
        ahead_at_the_end,
    ),
    Claim(
        "5. Experiments, Yelp Dataset",
        "From the results, the performance of our algorithm has a clear advantage over theirs.",
        READING,
        ("yelp",),
        ahead_at_the_end,
    ),
    Claim(
        "5. Experiments, MovieLens Dataset",
        "Since the MovieLens dataset has been processed and all users and movies have records with "
        "similar density, we randomly draw 10³ movies and 10³ users for experiments.",
        "Not measured: result folders do not hold the ratings. How many ratings each user and "
        "movie has can be counted in the data.",
    ),
    Claim(
        "5. Experiments, MovieLens Dataset",
        "From the results, the performance of our algorithm has a clear advantage over theirs.",
        READING,
        ("movielens",),
        ahead_at_the_end,
    ),
)
