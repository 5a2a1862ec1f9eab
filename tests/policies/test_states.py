"""States that do not fit: every array of every policy, wrong in turn, is refused by its name."""

import copy

import numpy as np
import pytest

from clubcascade.checks._play import played, same
from clubcascade.errors import ModelFileError
from clubcascade.policies import POLICIES

EXAMPLES = [
    (name, number)
    for name in sorted(POLICIES)
    for number, _ in enumerate(POLICIES[name].examples())
]


def wrong(value):
    """Yield what must not be taken for an array."""
    yield value[:0]
    yield value[:-1]
    yield value[:1] if len(value) > 1 else value[:0]
    yield np.concatenate([value, value])
    yield value[None]
    yield value[..., None]
    yield np.zeros(())
    yield value[:, :-1] if value.ndim > 1 else value.reshape(-1, 1)
    yield value.reshape(-1)[: value.size - 1]
    yield np.full(value.shape, np.nan)
    yield value.astype(str)
    yield value + 0.5j
    yield value.astype(object)
    if value.dtype.kind != "f":
        yield value + 0.5
    yield None
    yield "text"


@pytest.mark.parametrize(("name", "number"), EXAMPLES)
def test_wrong_arrays_are_refused_by_name(name, number):
    policy = list(POLICIES[name].examples())[number]
    played(policy)
    before = policy.state()
    arrays = [key for key, value in before.items() if isinstance(value, np.ndarray)]
    for key in arrays:
        for value in wrong(before[key]):
            if isinstance(value, np.ndarray) and same({"": value}, {"": before[key]}):
                if value.dtype == before[key].dtype:
                    continue  # an empty array cut is the same
            with pytest.raises(ModelFileError, match=rf"state must.*({'|'.join(before)})"):
                policy.load_state(before | {key: value})
            assert same(policy.state(), before), key
    for key in before:
        if key not in ("updates", "alpha"):  # files of 0.1.0 have neither
            with pytest.raises(ModelFileError, match=rf"state must.*{key}"):
                policy.load_state({k: v for k, v in before.items() if k != key})
    for users in (["a", "b"] * 8, [[]], 5, None, [float("nan")] * 6):
        with pytest.raises(ModelFileError, match=r"state must.*users"):
            policy.load_state(before | {"users": users})
    for state in (None, [], 5, "state", {}):
        with pytest.raises(ModelFileError, match="state must"):
            policy.load_state(state)
    assert same(policy.state(), before)
    policy.load_state(copy.deepcopy(before))
    assert same(policy.state(), before)
