"""Abstract, introduction and conclusions: the advantage of clustering, all in all."""

from __future__ import annotations

from clubcascade.report.claims.advantage import READING, ahead_at_the_end
from clubcascade.report.claims.claim import Claim

FIGURES = ("synthetic", "yelp", "movielens")

ABSTRACT = (
    Claim(
        "Abstract",
        "We conduct experiments on both synthetic and real data, and demonstrate the "
        "effectiveness of our algorithm and the advantage of incorporating online clustering "
        "method.",
        READING,
        FIGURES,
        ahead_at_the_end,
    ),
)

INTRODUCTION = (
    Claim(
        "1. Introduction",
        "Finally we experiment on both synthetic and real datasets to demonstrate the advantage "
        "of the model and algorithm.",
        READING,
        FIGURES,
        ahead_at_the_end,
    ),
    Claim(
        "1. Introduction",
        "Then we report experimental results on both synthetic data and real data to demonstrate "
        "the advantage of incorporating online clustering.",
        READING,
        FIGURES,
        ahead_at_the_end,
    ),
)

EXPERIMENTS = (
    Claim(
        "5. Experiments",
        "In both synthetic and real datasets, the results demonstrate the advantage of "
        "incorporating online clustering in the setting of online recommendations with cascade "
        "model.",
        READING,
        FIGURES,
        ahead_at_the_end,
    ),
)

CONCLUSIONS = (
    Claim(
        "6. Conclusions",
        "The experiments conducted on both synthetic and real datasets demonstrate the advantage "
        "of incorporating online clustering.",
        READING,
        FIGURES,
        ahead_at_the_end,
    ),
)
