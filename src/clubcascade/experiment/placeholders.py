"""Strings and tables of an experiment file that stand for objects.

======================================  =========================================================
in an environment                       stands for
======================================  =========================================================
``clicks = "yelp"``                     the clicks of the data set of that name
``click = "dcm"``, or                   a click model, with its parameters
``click = {model = "dcm", stop = 0.5}``
``changes = {at = 0.5, users = "new"}`` what changes (:class:`clubcascade.environments.Changes`);
                                        numbers below 1 are shares of the rounds of a run
======================================  =========================================================

======================================  =========================================================
in a policy                             stands for
======================================  =========================================================
``users = "all"``                       all users of the environment
``partition = "true"``                  the true clusters
``alpha = {theorem = 2}``, or           the constant of Theorem 2 (4 for policies with a link) in
``beta = {theorem = 2}``                this world and run
``edge_probability =                    that of the paper's discussion, for the true clusters
{smallest_share = 0.5}``
======================================  =========================================================

Other entries of such a table are arguments of the function of :mod:`clubcascade.theory`:
``alpha = {theorem = 2, item_eigenvalue = 0.05}``. The parameter ``policy`` of a policy around
another one is a table of the other's name and parameters:
``policy = {name = "club_cascade", alpha = 2.0}``.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from clubcascade import click, theory
from clubcascade.environments.arrivals import shares
from clubcascade.environments.changes import Changes
from clubcascade.errors import InvalidArgument, InvalidConfig, unknown_name
from clubcascade.experiment.data import clicks_of
from clubcascade.experiment.parameters import accepted, reject_unknown
from clubcascade.experiment.schema import Parameters
from clubcascade.links import read_link

CONSTANTS: dict[tuple[str, int | None], Callable[..., float]] = {
    ("alpha", 2): theory.alpha,
    ("alpha", 4): theory.alpha_glm,
    ("beta", 2): theory.beta,
    ("beta", 4): theory.beta_glm,
    ("edge_probability", None): theory.edge_probability,
}
"""What gives a constant of the paper, by its name and its theorem."""
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
    if "changes" in parameters:
        _changes(timed(parameters, 10**9)["changes"], f"{where}.changes")
    clicks = parameters.get("clicks", "")
    if not isinstance(clicks, str | list):
        raise InvalidConfig(f"{where}.clicks must be a data set's name or path, got {clicks!r}")


def timed(parameters: Parameters, rounds: int) -> Parameters:
    """Return the parameters of an environment, change points in rounds instead of shares of a run.

    >>> timed({"changes": {"at": [0.25, 0.5], "users": "new"}}, 1000)
    {'changes': {'at': [250, 500], 'users': 'new'}}
    """
    changes = parameters.get("changes")
    if not isinstance(changes, Mapping) or "at" not in changes:
        return parameters
    at = changes["at"] if isinstance(changes["at"], list) else [changes["at"]]
    at = [round(t * rounds) if isinstance(t, float) and 0 < t < 1 else t for t in at]
    return {**parameters, "changes": {**changes, "at": at}}


def environment_values(parameters: Parameters, data: str | None) -> Parameters:
    """Return the parameters of an environment with the objects that they stand for.

    ``data`` is the fingerprint of the data set that they name, if they name one.
    """
    values = dict(parameters)
    if isinstance(values.get("clicks"), str):
        values["clicks"] = clicks_of(values["clicks"], data)
    if "click" in values:
        values["click"] = _click_model(values["click"], "click")
    if "changes" in values:
        values["changes"] = _changes(values["changes"], "changes")
    return values


def policy_values(parameters: Parameters, env: Any, rounds: int) -> Parameters:
    """Return the parameters of a policy with the objects that they stand for."""
    values = dict(parameters)
    if values.get("users") == "all":
        values["users"] = range(env.n_users)
    if values.get("partition") == "true":
        values["partition"] = _true_clusters(env, "partition")
    for name in ("alpha", "beta", "edge_probability"):
        if isinstance(values.get(name), Mapping):
            values[name] = _constant(name, values, env, rounds)
    if isinstance(values.get("policy"), Mapping):
        values["policy"] = policy_values(values["policy"], env, rounds)
    return values


def _constant(name: str, values: Parameters, env: Any, rounds: int) -> float:
    """Work out a constant of the paper from a table, from the world and from the run."""
    given = dict(values[name])
    which = (name, None if name == "edge_probability" else given.pop("theorem", None))
    if which not in CONSTANTS:
        raise InvalidConfig(
            f"{name} must be a number or {{theorem = 2}}, 4 for policies with a link, "
            f"got {values[name]!r}"
        )
    known: dict[str, Callable[[], Any]] = {
        "n_features": lambda: env.n_features,
        "n_users": lambda: env.n_users,
        "n_clusters": lambda: len(set(_true_clusters(env, name).tolist())),
        "item_eigenvalue": lambda: theory.item_eigenvalue(env.catalog.features),
        "horizon": lambda: rounds,
        "reg": lambda: values["reg"],
        "slope": lambda: read_link(values["link"]).slope,
        "delta": lambda: 0.1,
    }
    wanted = inspect.signature(CONSTANTS[which]).parameters
    reject_unknown("parameter", given, wanted, name)
    missing = [each for each in wanted if each not in given and each not in known]
    if missing:
        raise InvalidConfig(f"missing parameter {missing[0]!r} in {name}")
    try:
        arguments = {each: given[each] if each in given else known[each]() for each in wanted}
        return CONSTANTS[which](**arguments)
    except InvalidConfig:
        raise
    except (InvalidArgument, KeyError) as error:
        raise InvalidConfig(f"{name}: {error}") from None


def _true_clusters(env: Any, name: str) -> Any:
    if getattr(env, "partition", None) is None:
        raise InvalidConfig(f"{name} needs the true clusters, which are unknown")
    return env.partition


def _changes(given: Any, where: str) -> Changes:
    """Make what changes of its table."""
    if not isinstance(given, Mapping):
        raise InvalidConfig(f"{where} must be a table, {{at = ...}}, got {given!r}")
    reject_unknown("parameter", given, accepted(Changes), where)
    try:
        return Changes(**given)
    except InvalidArgument as error:
        raise InvalidConfig(f"{where}: {error}") from None


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
