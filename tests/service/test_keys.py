import json

import pytest

from clubcascade.errors import InvalidArgument, StoreDamaged, UnknownName
from clubcascade.service.keys import KeyFile


def test_tokens_are_not_stored(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    token = keys.add("write", ["news"])
    assert token not in (tmp_path / "keys.json").read_text()
    assert (tmp_path / "keys.json").stat().st_mode & 0o077 == 0
    found = KeyFile(tmp_path / "keys.json").find(token)
    assert (found.role, found.models) == ("write", ("news",))
    assert keys.find(token + "x") is None and keys.find(found.digest) is None


def test_roles_are_ordered_and_bound(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    key = keys.find(keys.add("write", ["news"]))
    assert key.may("read", "news") and key.may("write", "news")
    assert not key.may("admin", "news") and not key.may("read", "other")
    assert not key.may("read", None)
    assert keys.find(keys.add("admin")).may("admin", "anything")


def test_bad_calls(tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    with pytest.raises(InvalidArgument, match="role must be one of"):
        keys.add("owner")
    with pytest.raises(InvalidArgument, match="name must be"):
        keys.add("read", ["../x"])
    with pytest.raises(InvalidArgument, match="at least one"):
        keys.add("read", [])
    with pytest.raises(UnknownName, match="unknown key 'x'"):
        keys.remove("x")
    assert not (tmp_path / "keys.json").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"keys": [{"id": "x"}]})])
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / "keys.json").write_text(text)
    with pytest.raises(StoreDamaged, match="file of keys"):
        KeyFile(tmp_path / "keys.json")
