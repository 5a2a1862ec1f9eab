"""Model files: foreign, truncated, newer, and written by an interrupted process."""

import errno
import io
import json
import os
import time
import zipfile
from datetime import UTC

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade import model_file
from clubcascade.checks._rounds import same
from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.policies import POLICIES

IDS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters())
    | st.text(st.sampled_from("a\0\ud800\ud83d\ude00\U0001f600"))
    | st.binary()
    | st.floats()
    | st.uuids()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda time: time.replace(fold=0)),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=1),
    max_leaves=4,
)


@given(IDS)
def test_ids_come_back_exactly(value):
    again = model_file.decode(json.loads(json.dumps(model_file.encode(value))))
    assert repr(again) == repr(value)


def saved(tmp_path):
    policy = cc.ClubCascade(n_features=2, users=["a", ("b", 1)], alpha=0.4)
    policy.update("a", np.eye(2), 0)
    path = tmp_path / "model.cc"
    policy.save(path)
    return policy, path


def test_every_truncation_is_refused(tmp_path):
    _, path = saved(tmp_path)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match="model"):
            cc.load(path)


def test_flipped_bits_never_load_silently(tmp_path):
    policy, path = saved(tmp_path)
    whole = bytearray(path.read_bytes())
    rng = np.random.default_rng(1)
    for _ in range(200):
        broken = whole.copy()
        broken[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(broken))
        try:
            other = cc.load(path)
        except cc.errors.ClubCascadeError:
            continue
        assert same(policy.state(), other.state())


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "other"
    path.write_text("hello")
    with pytest.raises(ModelFileError, match="whole clubcascade model file"):
        cc.load(path)
    np.savez(tmp_path / "array.npz", x=np.zeros(2))
    with pytest.raises(ModelFileError, match="another kind"):
        cc.load(tmp_path / "array.npz")
    with pytest.raises(FileNotFoundError):
        cc.load(tmp_path / "missing")


def change_header(path, **changes):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"]) | changes
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_newer_format_is_refused_with_its_number(tmp_path):
    _, path = saved(tmp_path)
    change_header(path, format=model_file.FORMAT + 1)
    with pytest.raises(ModelFileError, match=f"format {model_file.FORMAT + 1}"):
        cc.load(path)


def test_an_unknown_policy_is_named(tmp_path):
    _, path = saved(tmp_path)
    change_header(path, policy="club_cascada")
    with pytest.raises(cc.errors.UnknownName, match="did you mean 'club_cascade'"):
        cc.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    policy, path = saved(tmp_path)
    before = path.read_bytes()
    policy._numbers[object] = 2  # an id that no file can hold
    with pytest.raises(InvalidArgument, match="saved value or id"):
        policy.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.cc"]


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"random"}))
def test_a_state_with_nan_is_refused_and_changes_nothing(name):
    policy = next(iter(POLICIES[name].examples()))
    items = cc.Catalog(np.eye(3))
    for user in range(3):
        policy.update(user, items[[0, 1, 2]], click=user)
    before = policy.state()
    spoilt = [
        key for key, part in before.items() if isinstance(part, np.ndarray) and part.dtype == float
    ]
    for key in spoilt:
        for value in (np.full_like(before[key], np.nan), None):
            with pytest.raises(ModelFileError, match=f"{key} (holds NaN|is None)"):
                policy.load_state(before | {key: value})
            assert same(policy.state(), before)
    counts = ("cascade_ucb1", "cascade_kl_ucb", "popular", "top_rank")
    assert spoilt or name in counts  # counts alone are whole numbers


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder: .*nowhere'$"):
        cc.Random().save(tmp_path / "nowhere" / "model.cc")


@pytest.mark.parametrize(
    "params",
    [{"dict": [["no_such", 1]]}, {"dict": [[5, 1]]}, {"dict": [["horizon", 9]]}, [1], None],
)
def test_parameters_that_no_policy_has_are_refused(tmp_path, params):
    _, path = saved(tmp_path)
    change_header(path, params=params)
    with pytest.raises(ModelFileError, match="path must be a model file with the parameters of"):
        cc.load(path)


def test_an_array_that_claims_to_be_huge_is_refused(tmp_path):
    (_, path), other = saved(tmp_path), tmp_path / "other.cc"
    room = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**11, 3, 3)}
    np.lib.format.write_array_header_1_0(room, shape)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            huge = name.endswith(".npy")
            new.writestr(name, room.getvalue() if huge else old.read(name))
    with pytest.raises(ModelFileError, match="whole clubcascade model file"):
        cc.load(other)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), model_file.atomic_write(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "file"
    with (
        pytest.raises(OSError, match="No space left on device: .*file"),
        model_file.atomic_write(path),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_run_go_but_not_what_another_run_writes(tmp_path):
    for name in ("x.npz.7.tmp", "z.npz.8.tmp", "y.npz"):
        (tmp_path / name).touch()
    long_ago = time.time() - 3600
    os.utime(tmp_path / "x.npz.7.tmp", (long_ago, long_ago))
    model_file.remove_abandoned(tmp_path, 60)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["y.npz", "z.npz.8.tmp"]


@pytest.mark.parametrize(("mode", "wanted"), [({}, 0o644), ({"mode": 0o600, "sync": True}, 0o600)])
def test_permissions_are_those_asked_for(tmp_path, mode, wanted):
    umask = os.umask(0o022)
    try:
        with model_file.atomic_write(tmp_path / "file", **mode) as file:
            file.write(b"x")
    finally:
        os.umask(umask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == wanted
