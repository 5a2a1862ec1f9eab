"""Rank items for users, learn from where they click, and find out which users are alike.

>>> import clubcascade as cc
>>> env = cc.environments.Synthetic(n_users=10, n_clusters=2, n_items=50, n_features=5, seed=7)
>>> policy = cc.ClubCascade(n_features=5)
>>> trace = cc.simulate(policy, env, rounds=200, k=4, seed=7)
>>> len(trace.reward)
200
"""

from clubcascade import _command  # noqa: F401, I001 - the first of all: Ctrl-C while others load
import importlib as _importlib
import typing as _typing

from clubcascade import click, datasets, environments, errors, spanner, theory
from clubcascade.core import Catalog, Environment, Feedback, Policy, Slate
from clubcascade.links import Link
from clubcascade.policies import POLICIES, load, register
from clubcascade.policies.alpha_schedule import AlphaSchedule
from clubcascade.policies.c3_ucb import C3UCB
from clubcascade.policies.c3_ucb_glm import C3UCBGLM
from clubcascade.policies.cascade_kl_ucb import CascadeKLUCB
from clubcascade.policies.cascade_lin_ts import CascadeLinTS
from clubcascade.policies.cascade_lin_ucb import CascadeLinUCB
from clubcascade.policies.cascade_ucb1 import CascadeUCB1
from clubcascade.policies.cascade_woful import CascadeWOFUL
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.policies.club_cascade_2017 import ClubCascade2017
from clubcascade.policies.club_cascade_glm import ClubCascadeGLM
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.policies.hier_ts import HierTS
from clubcascade.policies.known_clusters import KnownClusters
from clubcascade.policies.known_clusters_glm import KnownClustersGLM
from clubcascade.policies.multiple_glm import MultipleGLM
from clubcascade.policies.multiple_lin_ucb import MultipleLinUCB
from clubcascade.policies.popular import Popular
from clubcascade.policies.random import Random
from clubcascade.policies.sclub import SCLUB
from clubcascade.policies.spanner_exploration import SpannerExploration
from clubcascade.policies.top_rank import TopRank
from clubcascade.policies.uni_club import UniCLUB
from clubcascade.policies.user_selection import UserSelection
from clubcascade.simulation import Trace, simulate

if _typing.TYPE_CHECKING:
    from clubcascade.service.client import AsyncClient, Client
    from clubcascade.service.decision import Decision, Outcome
    from clubcascade.service.recommender import Recommender

__version__ = "0.2.0"

__all__ = [
    "POLICIES",
    "SCLUB",
    "AlphaSchedule",
    "AsyncClient",
    "C3UCB",
    "C3UCBGLM",
    "CascadeKLUCB",
    "CascadeLinTS",
    "CascadeLinUCB",
    "CascadeUCB1",
    "CascadeWOFUL",
    "Catalog",
    "Client",
    "ClubCascade",
    "ClubCascade2017",
    "ClubCascadeGLM",
    "CohortCascade",
    "Decision",
    "Environment",
    "Feedback",
    "HierTS",
    "KnownClusters",
    "KnownClustersGLM",
    "Link",
    "MultipleGLM",
    "MultipleLinUCB",
    "Outcome",
    "Policy",
    "Popular",
    "Random",
    "Recommender",
    "Slate",
    "SpannerExploration",
    "TopRank",
    "Trace",
    "UniCLUB",
    "UserSelection",
    "click",
    "datasets",
    "environments",
    "errors",
    "load",
    "register",
    "simulate",
    "spanner",
    "theory",
]

_AT_FIRST_USE = {
    "AsyncClient": "clubcascade.service.client",
    "Client": "clubcascade.service.client",
    "Decision": "clubcascade.service.decision",
    "Outcome": "clubcascade.service.decision",
    "Recommender": "clubcascade.service.recommender",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(_AT_FIRST_USE[name]), name)
