"""States that do not fit: every array of every policy, wrong in turn, is refused by its name."""

import copy

import numpy as np
import pytest

from clubcascade.checks._rounds import same, trained
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
    trained(policy)
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


@pytest.mark.parametrize(("name", "number"), EXAMPLES)
def test_wrong_contents_are_refused_by_name(name, number):
    """Of the right shape, but nothing a policy could have learned: kernels would follow it."""
    policy = list(POLICIES[name].examples())[number]
    trained(policy)
    before = policy.state()
    for key, value in before.items():
        if not isinstance(value, np.ndarray) or not value.size:
            continue
        for bad in spoilt(key, value):
            with pytest.raises(ModelFileError, match=rf"state must.*({'|'.join(before)})"):
                policy.load_state(before | {key: bad})
            assert same(policy.state(), before), key


def spoilt(key, value):
    """Yield arrays whose contents cannot be."""
    numbers = (np.inf, -np.inf, 1e300) if value.dtype.kind == "f" else (-2, 2**63 - 1)
    if value.dtype.kind == "i":
        numbers = (-2, np.iinfo(value.dtype).max)
    if value.dtype.kind == "u":
        numbers = (2**64 - 2,)  # edges to users beyond the last, and a key of no item
    elif key in ("group", "label", "user_row", "way", "met", "graph_label", "head", "fit_ids"):
        numbers = (99, -2)
    for number in numbers:
        if key != "alpha" or number < 0:
            bad = value.copy()
            bad.flat[value.size // 2] = number
            yield bad


def test_rings_of_a_cohort_that_are_not_whole_are_refused():
    policy = POLICIES["cohort_cascade"](n_features=3, seed=3)
    trained(policy)
    before = policy.state()
    alone = np.arange(len(before["label"]))
    cut = [
        {"after": alone, "before": alone},
        {"after": before["after"][::-1].copy()},
        {"head": before["head"] + 1},
        {"size": before["size"] + 1},
        {"tally": before["tally"] + [0, 1, 0, 0, 0]},
        {"tally": before["tally"] + [0, 0, 1, 0, 0]},
        {"calibration": before["calibration"] - [1.0, 0.0]},
        {"calibration": before["calibration"] - [0.0, 1.0]},
        {"noise": -before["noise"]},
    ]
    for parts in cut:
        with pytest.raises(ModelFileError, match=f"{next(iter(parts))} must"):
            policy.load_state(before | parts)


def test_a_gram_matrix_that_cannot_be_is_refused():
    """Else draws are no numbers, and a list has one row several times."""
    policy = POLICIES["cohort_cascade"](n_features=3, seed=3)
    trained(policy)
    before = policy.state()
    for gram in (-before["gram"], before["gram"] - 2 * np.eye(3)):
        with pytest.raises(ModelFileError, match="gram must be positive semidefinite"):
            policy.load_state(before | {"gram": gram})
    policy.load_state(before | {"gram": before["gram"] * (1 - 1e-12)})


def test_rows_that_two_users_share_are_refused():
    policy = POLICIES["club_cascade"](n_features=3, users=range(6))
    trained(policy)
    before = policy.state()
    for row in (np.zeros_like(before["user_row"]), np.full_like(before["user_row"], -1)):
        with pytest.raises(ModelFileError, match="user_row must"):
            policy.load_state(before | {"user_row": row})


def test_sizes_whose_sum_overflows_are_refused():
    policy = POLICIES["known_clusters_glm"](n_features=3, partition=[range(4), [4], [5], [6]])
    before = policy.state()
    sizes = np.full_like(before["fit_sizes"], 2**62)
    assert sizes.sum() == 0
    with pytest.raises(ModelFileError, match="fit_sizes must"):
        policy.load_state(before | {"fit_sizes": sizes})
