"""Strings and tables of an experiment file that stand for objects.

======================================  =========================================================
in an environment                       stands for
======================================  =========================================================
``clicks = "yelp"``                     the clicks of the data set of that name
``click = "dcm"``, or                   a click model, with its parameters
``click = {model = "dcm", stop = 0.5}``
======================================  =========================================================

======================================  =========================================================
in a policy                             stands for
======================================  =========================================================
``users = "all"``                       all users of the environment
``partition = "true"``                  the true clusters
``n_clusters = "true"``                 the number of true clusters
``item_eigenvalue = "true"``            the theorem's lambda_x of the environment's items
``horizon = "rounds"``                  the number of rounds of the run
======================================  =========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clubcascade import click, theory
from clubcascade.environments.arrivals import shares
from clubcascade.errors import InvalidArgument, InvalidConfig, unknown_name
from clubcascade.experiment.data import clicks_of
from clubcascade.experiment.parameters import accepted, reject_unknown
from clubcascade.experiment.schema import Parameters

CLICK_MODELS: dict[str, type[Any]] = {"cascade": click.Cascade, "dcm": click.DCM}
"""The click models by the name that an experiment file gives them."""


def check_environment(parameters: Parameters, where: str) -> None:
    """Raise if a value in the parameters of an environment stands for nothing."""
    _click_model(parameters.get("click"), f"{where}.click")
    if isinstance(arrivals := parameters.get("arrivals"), Mapping):
        reject_unknown("law", arrivals, ["zipf"], f"{where}.arrivals")
        try:
            shares(arrivals, 1)
        except InvalidArgument as error:
            raise InvalidConfig(f"{where}: {error}") from None
    clicks = parameters.get("clicks", "")
    if not isinstance(clicks, str | list):
        raise InvalidConfig(f"{where}.clicks must be a data set's name or path, got {clicks!r}")


def environment_values(parameters: Parameters, data: str | None) -> Parameters:
    """Return the parameters of an environment with the objects that they stand for.

    Parameters
    ----------
    parameters
        As the file has them.
    data
        Fingerprint of the data set that they name, if they name one.
    """
    values = dict(parameters)
    if isinstance(values.get("clicks"), str):
        values["clicks"] = clicks_of(values["clicks"], data)
    if "click" in values:
        values["click"] = _click_model(values["click"], "click")
    return values


def policy_values(parameters: Parameters, env: Any, rounds: int) -> Parameters:
    """Return the parameters of a policy with the objects that they stand for."""
    values = dict(parameters)
    if values.get("users") == "all":
        values["users"] = range(env.n_users)
    if values.get("horizon") == "rounds":
        values["horizon"] = rounds
    if values.get("item_eigenvalue") == "true":
        values["item_eigenvalue"] = theory.item_eigenvalue(env.catalog.features)
    if values.get("partition") == "true":
        values["partition"] = _true_clusters(env, "partition")
    if values.get("n_clusters") == "true":
        values["n_clusters"] = len(set(_true_clusters(env, "n_clusters").tolist()))
    return values


def _true_clusters(env: Any, name: str) -> Any:
    if getattr(env, "partition", None) is None:
        raise InvalidConfig(f"{name} = 'true', but the true clusters are unknown")
    return env.partition


def _click_model(given: Any, where: str) -> Any:
    """Make a click model of its name, or of a table with its name and parameters."""
    if given is None:
        return None
    table = {"model": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("model"), str):
        raise InvalidConfig(
            f"{where} must be a click model's name or {{model = ...}}, got {given!r}"
        )
    name = table["model"]
    if name not in CLICK_MODELS:
        raise InvalidConfig(f"{where}: {unknown_name('click model', name, CLICK_MODELS)}")
    parameters = {key: value for key, value in table.items() if key != "model"}
    reject_unknown("parameter", parameters, accepted(CLICK_MODELS[name]), where)
    try:
        return CLICK_MODELS[name](**parameters)
    except (InvalidArgument, TypeError, ValueError) as error:
        raise InvalidConfig(f"{where}: {error}") from None
