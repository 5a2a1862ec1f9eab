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

if _typing.TYPE_CHECKING:
    from clubcascade import click, datasets, environments, errors, spanner, theory
    from clubcascade.core import Catalog, Environment, Feedback, Policy, Slate
    from clubcascade.evaluation import Log, evaluate
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
    from clubcascade.policies.item_memory import ItemMemory
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
    from clubcascade.service.client import AsyncClient, Client
    from clubcascade.service.decision import Decision, Outcome
    from clubcascade.service.recommender import Recommender
    from clubcascade.simulation import Trace, simulate
    from clubcascade.training import learn_log, train

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
    "ItemMemory",
    "KnownClusters",
    "KnownClustersGLM",
    "Link",
    "Log",
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
    "evaluate",
    "learn_log",
    "load",
    "register",
    "simulate",
    "spanner",
    "theory",
    "train",
]

_PUBLIC = {
    "core": ("Catalog", "Environment", "Feedback", "Policy", "Slate"),
    "evaluation": ("Log", "evaluate"),
    "links": ("Link",),
    "policies": ("POLICIES", "load", "register"),
    "policies.alpha_schedule": ("AlphaSchedule",),
    "policies.c3_ucb": ("C3UCB",),
    "policies.c3_ucb_glm": ("C3UCBGLM",),
    "policies.cascade_kl_ucb": ("CascadeKLUCB",),
    "policies.cascade_lin_ts": ("CascadeLinTS",),
    "policies.cascade_lin_ucb": ("CascadeLinUCB",),
    "policies.cascade_ucb1": ("CascadeUCB1",),
    "policies.cascade_woful": ("CascadeWOFUL",),
    "policies.club_cascade": ("ClubCascade",),
    "policies.club_cascade_2017": ("ClubCascade2017",),
    "policies.club_cascade_glm": ("ClubCascadeGLM",),
    "policies.cohort_cascade": ("CohortCascade",),
    "policies.hier_ts": ("HierTS",),
    "policies.item_memory": ("ItemMemory",),
    "policies.known_clusters": ("KnownClusters",),
    "policies.known_clusters_glm": ("KnownClustersGLM",),
    "policies.multiple_glm": ("MultipleGLM",),
    "policies.multiple_lin_ucb": ("MultipleLinUCB",),
    "policies.popular": ("Popular",),
    "policies.random": ("Random",),
    "policies.sclub": ("SCLUB",),
    "policies.spanner_exploration": ("SpannerExploration",),
    "policies.top_rank": ("TopRank",),
    "policies.uni_club": ("UniCLUB",),
    "policies.user_selection": ("UserSelection",),
    "service.client": ("AsyncClient", "Client"),
    "service.decision": ("Decision", "Outcome"),
    "service.recommender": ("Recommender",),
    "simulation": ("Trace", "simulate"),
    "training": ("learn_log", "train"),
}
"""The public names by the module that has them; modules are imported when a name is first used."""
_AT_FIRST_USE = {name: module for module, names in _PUBLIC.items() for name in names}


def __getattr__(name: str) -> _typing.Any:
    if name in _AT_FIRST_USE:
        value = getattr(_importlib.import_module(f"{__name__}.{_AT_FIRST_USE[name]}"), name)
    elif name in __all__:
        value = _importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
