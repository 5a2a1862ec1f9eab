"""The policies. The folder is the registry: a new policy is a new file.

A file holds one policy class. Packages elsewhere join through the entry-point group
``clubcascade.policies``, and a class of a notebook or script by :func:`register`.
"""

import importlib
import inspect
import os
import pkgutil
from typing import Any, TypeVar

from clubcascade import model_file
from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument, ModelFileError, UnknownName, unknown_name
from clubcascade.policies._legacy import upgraded
from clubcascade.policies._registry import Registry
from clubcascade.validation import brief

Kind = TypeVar("Kind", bound=type[Policy])


def _own() -> dict[str, type[Policy]]:
    found: dict[str, type[Policy]] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for value in vars(loaded).values():
            own = inspect.isclass(value) and value.__module__ == loaded.__name__
            if own and issubclass(value, Policy) and not inspect.isabstract(value):
                found[module.name] = value
    return found


POLICIES = Registry(_own())
"""Every policy by its name: that of its file, its entry point, or its class in snake case."""


def register(kind: Kind) -> Kind:
    """Make a policy of your own known by its name, for ``load`` and experiments; returns it.

    Needed where no entry point names it: in a notebook or a script, as a call or as the decorator
    ``@clubcascade.register``. A class that is defined again replaces the one of before.

    >>> from clubcascade import C3UCB
    >>> register(C3UCB).registry_name()
    'c3_ucb'
    """
    POLICIES.add(kind)
    return kind


def policy_class(name: str) -> type[Policy]:
    """Return the policy of that name.

    >>> policy_class("club_cascade").__name__
    'ClubCascade'
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"policy must be the name of one, got {brief(name)}")
    try:
        return POLICIES[name]
    except KeyError:
        error = unknown_name("policy", name, POLICIES)
        raise UnknownName(
            f"{error}. If it is one of your own: install the package whose entry point names it, "
            f"or define the class and call clubcascade.register with it"
        ) from None


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy that :meth:`Policy.save` wrote; it continues bit for bit.

    >>> import tempfile, pathlib
    >>> from clubcascade import MultipleLinUCB
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.cc"
    ...     MultipleLinUCB(n_features=2).save(file)
    ...     load(file)
    MultipleLinUCB(n_features=2, beta=1.0, reg=4.0, discounts=None)
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"path must be that of a model file, got {brief(path)}")
    name, params, state = model_file.read(path)
    try:
        return restored(name, params, state)
    except TypeError as error:
        raise ModelFileError(
            f"path must be a model file with the parameters of {policy_class(name).__name__}, "
            f"got {os.fspath(path)!r}: {error}"
        ) from error


def restored(name: str, params: dict[str, Any], state: dict[str, Any]) -> Policy:
    """Return the policy of a saved name, parameters and state; earlier ones are upgraded.

    >>> import numpy as np
    >>> restored("random", {"seed": 7}, {"users": [], "draws": np.array([5])}).state()["draws"]
    array([5])
    """
    try:
        name, params, state = upgraded(name, params, state)
    except (AttributeError, KeyError) as error:
        raise TypeError(f"parameters that no version had: {error!r}") from error
    policy = policy_class(name)(**params)
    policy.load_state(state)
    return policy
