"""Parameters of earlier versions: where they are now, and models that were saved with them."""

from typing import Any

import numpy as np

from clubcascade import theory
from clubcascade.kernels.cohort_constants import N_BUCKETS
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

GLM = ("club_cascade_glm", "c3_ucb_glm", "multiple_glm", "known_clusters_glm")
"""The policies with a link that had parameters of the theorem."""

UNSAID = {"horizon", "n_clusters", "item_eigenvalue", "smallest_share", "alpha_schedule"}
"""Those whose default was None, which a saved experiment does not state."""

Model = tuple[str, dict[str, Any], dict[str, Any]]


def upgraded(name: str, params: dict[str, Any], state: dict[str, Any]) -> Model:
    """Return a saved model (policy, parameters, state) as this version has it."""
    if name == "club_cascade" and params.keys() & MOVED.keys():
        return _club(dict(params), state)
    if name == "cohort_cascade":
        added = {"mixture_error": np.zeros((N_BUCKETS, 2)), "calibration": np.array([-1.0, 0.0])}
        return name, {"memory": 0} | params, added | state
    if name in GLM and params.keys() & MOVED_GLM.keys():
        return name, _constants(dict(params)), state
    return name, params, state


def _constants(old: dict[str, Any]) -> dict[str, Any]:
    """Work out the constants that were named by what the theorems make them from."""
    d, reg = old["n_features"], old["reg"]
    gone = {each: old.pop(each, None) for each in MOVED_GLM}
    horizon, m, eigenvalue = (gone[each] for each in ("horizon", "n_clusters", "item_eigenvalue"))
    slope = read_link(old["link"]).slope if "link" in old else None
    if old["beta"] is None and horizon is not None:
        if m is None:  # who did not have to name them: one, or those of a partition
            m = Partition(old["partition"]).n_clusters if "partition" in old else 1
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


def _club(old: dict[str, Any], state: dict[str, Any]) -> Model:
    """Return an earlier ClubCascade, in the parts that it is made of now."""
    inner, wrappers = _parts(old)
    params = _constants(old)
    if inner == "club_cascade" and params["alpha"] is None:
        params["alpha"] = 2.0
    if params["beta"] is None:
        params["beta"] = 1.0
    for wrapper in wrappers:
        state = state | {f"{wrapper}.updates": state.get("updates", np.array([0]))}
    return *_wrapped(inner, params, wrappers), state


def _parts(old: dict[str, Any]) -> tuple[str, dict[str, dict[str, Any]]]:
    """Take the discussed parts out of parameters; return the policy, and what is around it."""
    variant, explore = old.pop("variant", "paper"), old.pop("explore", "ucb")
    found = {
        "spanner_exploration": {"share": old.pop("spanner_share", 0.3)},
        "user_selection": {"rounds": old.pop("ask", 0)},
        "alpha_schedule": {"steps": old.pop("alpha_schedule", None)},
    }
    if explore != "spanner":
        del found["spanner_exploration"]
    wrappers = {name: more for name, more in found.items() if any(more.values())}
    return ("club_cascade" if variant == "paper" else "club_cascade_2017"), wrappers


def _wrapped(
    name: str, params: dict[str, Any], wrappers: dict[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    for wrapper, more in wrappers.items():
        name, params = wrapper, {"policy": {"name": name, **params}, **more}
    return name, params


def upgraded_entry(name: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a policy of a saved experiment, every value stated, as this version has it."""
    stated = {"club_cascade": set(MOVED) - UNSAID, "club_cascade_glm": {"delta"}}
    stated |= dict.fromkeys(GLM[1:], {"horizon", "link", "reg", "solver"})
    if name not in stated or not stated[name] <= params.keys():
        return name, params
    old = dict(params)
    name, wrappers = _parts(old) if name == "club_cascade" else (name, {})
    gone = {each: old.pop(each, None) for each in MOVED_GLM}
    if name == "c3_ucb_glm":
        gone["n_clusters"] = 1

    def table(**more: Any) -> dict[str, Any]:
        named = {each: gone[each] for each in more.pop("of")}
        return more | {k: v for k, v in named.items() if v not in (None, "true", "rounds")}

    theorem = 4 if "link" in old else 2
    if gone["horizon"] is not None:
        more = ["item_eigenvalue"] if theorem == 4 else []
        old["beta"] = table(theorem=theorem, of=["horizon", "n_clusters", *more])
    if gone["item_eigenvalue"] is not None and name.startswith("club") and "alpha" not in old:
        old["alpha"] = table(theorem=theorem, of=["item_eigenvalue"])
    if gone["smallest_share"] is not None:
        old["edge_probability"] = table(of=["n_clusters", "smallest_share", "delta"])
    return _wrapped(name, old, wrappers)
