"""The registry: policies of other packages, and of a session without files."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument, UnknownName
from clubcascade.policies import POLICIES, policy_class
from clubcascade.policies._registry import Registry
from tests.outside import GREEDY, distribution, python, said

LIST = "import clubcascade as cc; print(sorted(set(cc.POLICIES)), 'greedy_ridge' in cc.POLICIES)"


def test_an_entry_point_is_found_whoever_is_imported_first(tmp_path):
    site = distribution(tmp_path)
    assert said(site, LIST).endswith(" True\n")
    assert said(site, f"import other_lab.greedy; {LIST}").endswith(" True\n")
    code = "import clubcascade as cc; print(cc.POLICIES['greedy_ridge'].__module__)"
    assert said(site, code) == "other_lab.greedy\n"


BROKEN = {
    "gone = other_lab.gone:Gone": "ModuleNotFoundError: No module named 'other_lab.gone'",
    "lost = other_lab.greedy:Lost": "AttributeError",
    "numpy = other_lab.greedy:np": "must be a subclass of clubcascade.Policy",
    "greedy = other_lab.greedy:GreedyRidge": "must be called 'greedy_ridge'",
    "policy = other_lab.greedy:Policy": "without examples, load_state, recommend",
    "random = other_lab:Random": "clubcascade.policies.random.Random has",
    "script = other_lab.script:Script": "SystemExit: 3",
}


def test_one_that_fails_is_named_in_a_warning_and_the_rest_goes_on(tmp_path):
    good = "greedy_ridge = other_lab.greedy:GreedyRidge"
    site = distribution(tmp_path, "\n".join([*BROKEN, good]))
    with (site / "other_lab" / "__init__.py").open("a") as file:
        file.write("class Random(GreedyRidge): pass\n")
    (site / "other_lab" / "script.py").write_text("raise SystemExit(3)")
    done = python(site, "-c", LIST)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" True\n")
    warnings = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(warnings) == len(BROKEN)
    for warning, (point, reason) in zip(warnings, BROKEN.items(), strict=True):
        name, _, value = point.partition(" = ")
        assert f"the policy {name!r} of other-lab ({value})" in warning and reason in warning
    assert python(site, "-W", "error", "-c", "import clubcascade").returncode == 0


NOTEBOOK = """
import clubcascade as cc
cc.register(GreedyRidge)
policy = GreedyRidge(n_features=3, reg=0.5)
env = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=8, n_features=3, seed=1)
cc.simulate(policy, env, rounds=50, k=2, seed=1)
policy.save({path!r})
other = cc.load({path!r})
assert type(other) is GreedyRidge and other.reg == 0.5
assert (other.state()["gram"] == policy.state()["gram"]).all()
from clubcascade.checks import check_policy
check_policy(policy)
"""


def test_a_class_of_a_notebook_is_registered_saved_loaded_and_simulated(tmp_path):
    path = tmp_path / "model.cc"
    said(tmp_path, GREEDY + NOTEBOOK.format(path=str(path)))
    with pytest.raises(UnknownName, match=r"unknown policy 'greedy_ridge'.*clubcascade\.register"):
        cc.load(path)


def made(name="Own", base=cc.C3UCB, module="notebook"):
    return type(name, (base,), {"__module__": module, "__qualname__": name})


def test_a_name_that_is_taken_is_refused():
    registry = Registry({"random": cc.Random})
    with pytest.raises(InvalidArgument, match=r"got 'random' of notebook\.Random, which clubcasc"):
        registry.add(made("Random"))
    assert dict(registry)["random"] is cc.Random


def test_a_class_that_is_defined_again_replaces_itself():
    registry = Registry({})
    for _ in range(2):
        latest = made()
        registry.add(latest)
    assert registry["own"] is latest and list(registry) == ["own"] and len(registry) == 1
    with pytest.raises(InvalidArgument, match=r"got 'own' of other\.Own, which notebook\.Own has"):
        registry.add(made(module="other"))


@pytest.mark.parametrize("wrong", [cc.C3UCB(n_features=2), np.ndarray, "c3_ucb", cc.Policy])
def test_what_is_no_policy_is_refused(wrong):
    with pytest.raises(InvalidArgument, match="a policy must"):
        cc.register(wrong)


@pytest.mark.parametrize("wrong", [5, None, ["random"], b"random"])
def test_what_is_no_name_or_path_is_refused_in_a_sentence(wrong):
    with pytest.raises(InvalidArgument, match="policy must be the name of one, got"):
        policy_class(wrong)
    with pytest.raises(InvalidArgument, match="path must be that of a model file, got"):
        cc.load(wrong)


def test_the_registry_is_a_mapping():
    assert POLICIES["random"] is cc.Random and "nobody" not in POLICIES
    assert len(POLICIES) == len(list(POLICIES)) and "'random': Random" in repr(POLICIES)
