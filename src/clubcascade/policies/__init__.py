"""The policies. The folder is the registry: a new policy is a new file.

A file holds one policy class. Packages elsewhere join through the entry-point group
``clubcascade.policies``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from importlib import metadata

from clubcascade import model_file
from clubcascade.core import Policy
from clubcascade.errors import unknown_name


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


def _others() -> dict[str, type[Policy]]:
    return {point.name: point.load() for point in metadata.entry_points(group=__name__)}


POLICIES: dict[str, type[Policy]] = {**_others(), **_own()}
"""Every policy by its name: the name of its file, or of its entry point."""


def policy_class(name: str) -> type[Policy]:
    """Return the policy of that name.

    >>> policy_class("club_cascade").__name__
    'ClubCascade'
    """
    try:
        return POLICIES[name]
    except KeyError:
        raise unknown_name("policy", name, POLICIES) from None


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy that :meth:`Policy.save` wrote; it continues to the bit.

    >>> import tempfile, pathlib
    >>> from clubcascade import MultipleLinUCB
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.cc"
    ...     MultipleLinUCB(n_features=2).save(file)
    ...     load(file)
    MultipleLinUCB(n_features=2, beta=1.0, reg=4.0, discounts=None)
    """
    name, params, state = model_file.read(path)
    policy = policy_class(name)(**params)
    policy.load_state(state)
    return policy
