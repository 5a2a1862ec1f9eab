"""What every policy promises of its state and its parameters: kept, copied, refused whole."""

import copy
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from clubcascade.checks._rounds import ROUNDS, K, catalog_for, learned, run_rounds, same, trained
from clubcascade.core import Policy
from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.policies import load

DRAWS = (
    'a policy that draws keeps its place: state()["draws"] = rng.bit_generator.state, '
    'and in load_state rng = clubcascade.core.generator_of(state["draws"])'
)


def parameters_are_kept(policy: Policy) -> None:
    """``params`` make the policy anew, and ``set_params`` takes them and no others."""
    params = policy.get_params()
    assert same(params, policy.fresh().get_params()), "the parameters of a fresh policy differ"
    assert policy.set_params(**params) is policy, "set_params must return the policy"
    assert same(params, policy.get_params()), "set_params changed another parameter"
    _refused(policy, "an unknown parameter", no_such_parameter=1)


def learned_keeps_its_parameters(policy: Policy) -> None:
    """A policy that has learned refuses ``set_params``."""
    params = policy.get_params()
    trained(policy)
    if params and not same(learned(policy), learned(policy.fresh())):
        _refused(policy, "a parameter of a policy that has learned", **params)


def _refused(policy: Policy, what: str, /, **params: Any) -> None:
    before = policy.get_params(), policy.state()
    try:
        policy.set_params(**params)
    except InvalidArgument:
        after = policy.get_params(), policy.state()
        assert same(before[0], after[0]) and same(before[1], after[1]), f"{what} changed the policy"
    else:
        raise AssertionError(f"{what} was accepted")


def state_is_a_copy(policy: Policy) -> None:
    """Changing what ``state`` returned changes nothing in the policy."""
    trained(policy)
    taken = policy.state()
    for name, value in taken.items():
        live = isinstance(value, np.random.Generator | np.random.BitGenerator)
        assert not live, f"{name} of the state is a live {type(value).__name__}; {DRAWS}"
    before = copy.deepcopy(taken)
    for value in taken.values():
        if isinstance(value, np.ndarray):
            value[...] = 77
        elif isinstance(value, list):
            value.clear()
    assert same(before, policy.state()), "state shares memory with the policy"


def loaded_takes_the_same_step(policy: Policy) -> None:
    """At every round a policy loaded from the state takes the very same step."""
    catalog = catalog_for(policy)
    other = policy.fresh()
    for event in run_rounds(policy, catalog, ROUNDS):
        ranking = other.recommend(event.user, catalog, K)
        assert np.array_equal(ranking, event.ranking), (
            f"a loaded policy shows another list: state must hold all that was learned; {DRAWS}"
        )
        other.update(event.user, catalog[ranking], event.feedback)
        assert same(policy.state(), other.state()), "a loaded policy learned differently"
        other = policy.fresh()
        other.load_state(policy.state())


def saved_continues_bit_for_bit(policy: Policy) -> None:
    """A policy read from a file continues as the one that was saved."""
    catalog, _ = trained(policy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cc"
        policy.save(path)
        other = load(path)
    assert type(other) is type(policy), (
        f"the name is that of {type(other)}; call clubcascade.register"
    )
    assert same(policy.state(), other.state()), "the file gave another state"
    for ours, theirs in zip(
        run_rounds(policy, catalog, 20), run_rounds(other, catalog, 20), strict=True
    ):
        assert np.array_equal(ours.ranking, theirs.ranking), "the runs part"
    assert same(policy.state(), other.state()), "the saved policy learned differently"


def copies_take_the_same_steps(policy: Policy) -> None:
    """``copy.deepcopy`` and ``pickle`` give an equal policy, which then goes its own way."""
    catalog, _ = trained(policy)
    before = policy.state()
    copies = {
        "copy.deepcopy": copy.deepcopy(policy),
        "pickle": pickle.loads(pickle.dumps(policy)),
    }
    lists = [event.ranking for event in run_rounds(policy, catalog, 20)]
    for way, other in copies.items():
        assert type(other) is type(policy) and same(policy.params, other.params), way
        assert same(before, other.state()), f"{way} gave another state, or shares memory"
        theirs = [event.ranking for event in run_rounds(other, catalog, 20)]
        assert np.array_equal(lists, theirs), f"a policy of {way} shows another list"
        assert same(policy.state(), other.state()), f"a policy of {way} learned differently"


def refused_state_changes_nothing(policy: Policy) -> None:
    """A state with a part that is missing or wrong is refused whole, with a ModelFileError.

    A whole one is then taken over.
    """
    donor = policy.fresh()
    catalog, _ = trained(donor)
    list(run_rounds(policy, catalog, ROUNDS // 2))
    before = policy.state()
    for what, broken in _broken(donor.state()):
        try:
            policy.load_state(broken)
        except ModelFileError:
            assert same(before, policy.state()), (
                f"a state {what} was refused, but changed the policy"
            )
        except Exception as error:
            raise AssertionError(
                f"a state {what} must be refused with a ModelFileError, got {error!r}"
            ) from error
        else:
            assert what.startswith("without"), f"a state {what} was accepted"
            policy.load_state(before)  # a part that files of an earlier version lack
    other = policy.fresh()
    other.load_state(before)
    for ours, theirs in zip(
        run_rounds(policy, catalog, 20), run_rounds(other, catalog, 20), strict=True
    ):
        assert np.array_equal(ours.ranking, theirs.ranking), "a refused state changed the lists"
    policy.load_state(donor.state())
    assert same(donor.state(), policy.state()), "a policy that has learned took over another state"


def _broken(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield states of another history with one part missing or wrong each."""
    for name, value in state.items():
        yield f"without {name}", {key: part for key, part in state.items() if key != name}
        yield f"with {name} = None", state | {name: None}
        if isinstance(value, np.ndarray):
            wrong = np.zeros((*value.shape, 2, 3), value.dtype)
            yield f"with {name} of shape {wrong.shape}", state | {name: wrong}
