"""Parameters of earlier versions: where they are now, and models that were saved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade import theory
from clubcascade.links import read_link
from clubcascade.policies._partition import Partition

_P = "pass edge_probability=clubcascade.theory.edge_probability(...)"
MOVED = {
    "horizon": "pass beta=clubcascade.theory.beta(...)",
    "n_clusters": "pass beta=clubcascade.theory.beta(...), or " + _P.removeprefix("pass "),
    "item_eigenvalue": "pass alpha=clubcascade.theory.alpha(...)",
    "smallest_share": _P,
    "delta": _P,
    "alpha_schedule": "use clubcascade.AlphaSchedule(policy, steps=...)",
    "explore": "use clubcascade.SpannerExploration(policy)",
    "spanner_share": "use clubcascade.SpannerExploration(policy, share=...)",
    "ask": "use clubcascade.UserSelection(policy, rounds=...)",
    "variant": "use clubcascade.ClubCascade2017",
}
"""What to do instead of naming a parameter that ClubCascade once had."""

MOVED_GLM = {
    "horizon": "pass beta=clubcascade.theory.beta_glm(...)",
    "n_clusters": "pass beta=clubcascade.theory.beta_glm(...), or " + _P.removeprefix("pass "),
    "item_eigenvalue": "pass alpha=clubcascade.theory.alpha_glm(...), beta=...beta_glm(...)",
    "smallest_share": _P,
    "delta": _P,
}
"""The same of the policies with a link."""

Model = tuple[str, dict[str, Any], dict[str, Any]]


def upgraded(name: str, params: dict[str, Any], state: dict[str, Any]) -> Model:
    """Return a saved model (policy, parameters, state) as this version has it."""
    if name == "club_cascade" and params.keys() & MOVED.keys():
        return _club(dict(params), state)
    if name.endswith("_glm") and params.keys() & MOVED_GLM.keys():
        return name, _constants(dict(params)), state
    return name, params, state


def _constants(old: dict[str, Any]) -> dict[str, Any]:
    """Work out the constants that were named by what the theorems make them from."""
    d, reg = old["n_features"], old["reg"]
    gone = {each: old.pop(each, None) for each in MOVED_GLM}
    horizon, m, eigenvalue = (gone[each] for each in ("horizon", "n_clusters", "item_eigenvalue"))
    slope = read_link(old["link"]).slope if "link" in old else None
    if old["beta"] is None and horizon is not None:
        m = _n_clusters(old) if m is None else m
        if slope is None:
            old["beta"] = theory.beta(d, horizon, m, reg)
        else:
            old["beta"] = theory.beta_glm(d, horizon, m, eigenvalue, slope)
    if old.get("alpha", 0.0) is None and eigenvalue is not None:
        known = (d, eigenvalue) if slope is None else (d, eigenvalue, slope)
        old["alpha"] = (theory.alpha if slope is None else theory.alpha_glm)(*known)
    if old.get("start") == "random" and old["edge_probability"] is None:
        users, share, delta = len(old["users"]), gone["smallest_share"], gone["delta"]
        old["edge_probability"] = theory.edge_probability(users, m, share, delta)
    return old


def _n_clusters(old: dict[str, Any]) -> int:
    """Return the clusters of a policy that did not have to name them: one, or of a partition."""
    return Partition(old["partition"]).n_clusters if "partition" in old else 1


def _club(old: dict[str, Any], state: dict[str, Any]) -> Model:
    """Return an earlier ClubCascade, in the parts that it is made of now."""
    variant, explore = old.pop("variant", "paper"), old.pop("explore", "ucb")
    share, ask = old.pop("spanner_share", 0.3), old.pop("ask", 0)
    steps = old.pop("alpha_schedule", None)
    params = _constants(old)
    name = "club_cascade" if variant == "paper" else "club_cascade_2017"
    if variant == "paper" and params["alpha"] is None:
        params["alpha"] = 2.0
    if params["beta"] is None:
        params["beta"] = 1.0
    wrappers: list[tuple[str, dict[str, Any]]] = []
    if explore == "spanner":
        wrappers.append(("spanner_exploration", {"share": share}))
    if ask:
        wrappers.append(("user_selection", {"rounds": ask}))
    if steps:
        wrappers.append(("alpha_schedule", {"steps": steps}))
    for wrapper, more in wrappers:
        name, params = wrapper, {"policy": {"name": name, **params}, **more}
        state = state | {f"{wrapper}.updates": state.get("updates", np.array([0]))}
    return name, params, state
