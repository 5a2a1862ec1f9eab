"""Rank items for users, learn from where they click, and find out which users are alike.

>>> import clubcascade as cc
>>> env = cc.environments.Synthetic(n_users=10, n_clusters=2, n_items=50, n_features=5, seed=7)
>>> policy = cc.ClubCascade(n_features=5)
>>> trace = cc.simulate(policy, env, rounds=200, k=4, seed=7)
>>> len(trace.reward)
200
"""

from clubcascade import click, environments, errors, theory
from clubcascade.core import Catalog, Environment, Feedback, Policy, Slate
from clubcascade.links import Link
from clubcascade.policies import POLICIES, load
from clubcascade.policies.c3_ucb import C3UCB
from clubcascade.policies.c3_ucb_glm import C3UCBGLM
from clubcascade.policies.cascade_kl_ucb import CascadeKLUCB
from clubcascade.policies.cascade_lin_ts import CascadeLinTS
from clubcascade.policies.cascade_lin_ucb import CascadeLinUCB
from clubcascade.policies.cascade_ucb1 import CascadeUCB1
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.policies.club_cascade_glm import ClubCascadeGLM
from clubcascade.policies.known_clusters import KnownClusters
from clubcascade.policies.known_clusters_glm import KnownClustersGLM
from clubcascade.policies.multiple_glm import MultipleGLM
from clubcascade.policies.multiple_lin_ucb import MultipleLinUCB
from clubcascade.policies.random import Random
from clubcascade.simulation import Trace, simulate

__version__ = "0.1.0"

__all__ = [
    "POLICIES",
    "C3UCB",
    "C3UCBGLM",
    "CascadeKLUCB",
    "CascadeLinTS",
    "CascadeLinUCB",
    "CascadeUCB1",
    "Catalog",
    "ClubCascade",
    "ClubCascadeGLM",
    "Environment",
    "Feedback",
    "KnownClusters",
    "KnownClustersGLM",
    "Link",
    "MultipleGLM",
    "MultipleLinUCB",
    "Policy",
    "Random",
    "Slate",
    "Trace",
    "click",
    "environments",
    "errors",
    "load",
    "simulate",
    "theory",
]
