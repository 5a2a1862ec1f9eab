"""The file of a trained model: whole, without pickle, and checked before it is used."""

import json
import zipfile

import numpy as np
import pytest

import clubcascade as cc
from clubcascade import training
from clubcascade.errors import ModelFileError
from clubcascade.model_file import join_state, read_parts, split_state, write_parts
from clubcascade.training.model import FORMAT, MAGIC
from tests.features import made


@pytest.fixture(scope="module")
def model():
    return cc.train(made.clicks(), made.shelf(32), n_features=4, als=False)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "shop.cc")
    return tmp_path / "shop.cc"


def test_everything_comes_back(model, path):
    again = training.load(path)
    for user in [*model.policy.users, "nobody"]:
        assert again.recommend(user, 6) == model.recommend(user, 6)
        assert again.recommend(user, 6, explore=True) == model.recommend(user, 6, explore=True)
        assert again.seen(user) == model.seen(user)
    assert again.items.columns == model.items.columns
    assert again.items.title("i7") == model.items.title("i7")
    assert (str(again.worth), again.said) == (str(model.worth), model.said)
    row = {"item": "new", "category": "jam", "title": "jam", "price": "4"}
    np.testing.assert_array_equal(again.features.transform([row]), model.features.transform([row]))
    assert again.policy.clusters() == model.policy.clusters()


def test_it_is_a_zip_of_arrays_and_one_header(path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        header = json.loads(archive.read("header.json"))
    assert header["magic"] == "clubcascade trained model" and header["format"] == 1
    assert {"policy/state/gram.npy", "vectors.npy", "starts.npy", "clicked.npy"} < set(names)
    for name in set(names) - {"header.json"}:
        with zipfile.ZipFile(path) as archive, archive.open(name) as member:
            np.lib.format.read_array(member, allow_pickle=False)


CHANGES = {
    "a policy of other features": lambda s: s["policy"]["params"].update(n_features=3),
    "no policy of that name": lambda s: s["policy"].update(name="nothing"),
    "a state that is cut": lambda s: s["policy"]["state"].update(gram=np.zeros((1, 2, 2))),
    "users that come twice": lambda s: s.update(users=["u1"] * len(s["users"])),
    "fewer users than starts": lambda s: s["users"].pop(),
    "clicks on no item": lambda s: s["clicked"].fill(99),
    "starts that fall": lambda s: s.update(starts=s["starts"][::-1]),
    "starts of text": lambda s: s.update(starts=np.array(["a", "b"])),
    "an item less": lambda s: s["items"]["ids"].pop(),
    "a column that is short": lambda s: s["items"]["columns"]["title"].pop(),
    "a title that is no column": lambda s: s["items"].update(title="name"),
    "vectors that are long": lambda s: s["features"]["state"]["vectors"].fill(1.0),
    "a kind nobody knows": lambda s: s["features"].update(kind="magic"),
    "a mapping that is cut": lambda s: s["features"]["state"].update(mapping=np.zeros((1, 1))),
    "a width without end": lambda s: s["features"]["state"]["table"]["widths"].update(price=np.inf),
    "a value that comes twice": lambda s: s["features"]["state"]["table"]["encoders"]["1"].update(
        values=["tea"] * 3
    ),
    "an id that is no name": lambda s: s["features"]["state"]["table"].update(id_name=b"item"),
    "vectors beyond all measure": lambda s: s["features"]["state"]["vectors"].fill(1e300),
    "no said": lambda s: s.pop("said"),
    "a table of nothing": lambda s: s.update(worth={"k": 1}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_parts_that_do_not_fit_are_refused(change, path):
    plain, arrays = read_parts(path, MAGIC, FORMAT)
    state = join_state(plain, {name: array.copy() for name, array in arrays.items()})
    change(state)
    write_parts(path, MAGIC, FORMAT, *split_state(state))
    with pytest.raises(ModelFileError, match="path must be a trained model whose parts fit"):
        training.load(path)


def test_cut_and_changed_files_are_refused(path):
    whole = path.read_bytes()
    for size in (0, 10, 1000, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            training.load(path)
    place = whole.index(b"NUMPY", len(whole) // 2) + 200
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    with pytest.raises(ModelFileError):
        training.load(path)


def test_other_kinds_of_files_are_named(model, path, tmp_path):
    model.policy.save(tmp_path / "policy.cc")
    with pytest.raises(ModelFileError, match="which is a file of clubcascade model"):
        training.load(tmp_path / "policy.cc")
    with pytest.raises(ModelFileError, match="which is a file of clubcascade trained model"):
        cc.load(path)
    model.features.save(tmp_path / "features.cc")
    with pytest.raises(ModelFileError, match="clubcascade features"):
        training.load(tmp_path / "features.cc")


def test_a_packed_member_is_refused_before_it_is_unpacked(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["vectors.npy"] = bytes(10_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ModelFileError, match=r"none packed|not packed"):
        training.load(path)


def test_a_newer_format_is_named(path):
    plain, arrays = read_parts(path, MAGIC, FORMAT)
    write_parts(path, MAGIC, FORMAT + 1, plain, arrays)
    with pytest.raises(ModelFileError, match="format 1 to 1, got format 2"):
        training.load(path)


def test_an_interrupted_save_leaves_the_old_file(model, path, monkeypatch):
    whole = path.read_bytes()
    monkeypatch.setattr(np.lib.format, "write_array", lambda *a, **b: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.save(path)
    assert path.read_bytes() == whole
    assert [each.name for each in path.parent.iterdir()] == ["shop.cc"]
