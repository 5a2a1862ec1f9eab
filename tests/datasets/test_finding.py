import numpy as np
import pytest

from clubcascade import datasets, errors
from clubcascade.datasets.store import VARIABLE, checked_name, data_folder
from tests.datasets.made import pools_file


@pytest.fixture
def folder(tmp_path):
    file = pools_file(tmp_path / "file.npz", np.eye(3))
    for name in ("yelp", "movielens-20m"):
        datasets.prepare_pools(file, name=name, folder=tmp_path / "data")
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("name", "found"),
    [("yelp", "yelp"), ("movielens", "movielens-20m"), ("movielens-20m", "movielens-20m")],
)
def test_a_name_is_found(folder, name, found):
    assert datasets.find(name, folder).name == found


def test_the_folder_is_the_given_one_or_the_variable_or_the_users(folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder))
    assert datasets.find("yelp").name == "yelp"
    assert data_folder() == folder
    assert data_folder("other").name == "other"
    monkeypatch.setenv(VARIABLE, "")
    assert data_folder().parts[-2:] == ("clubcascade", "data")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("yelp", "clubcascade data yelp --path FOLDER_OF_THE_YELP_FILES"),
        ("movielens", "clubcascade data movielens"),
        ("movielens-25m", "clubcascade data movielens 25m"),
        ("shop", "clubcascade data interactions --path FILE --name shop"),
        ("my ratings.csv", "clubcascade data interactions --path 'my ratings.csv'"),
        ("../x", "clubcascade data interactions --path FILE --name ../x"),
    ],
)
def test_what_is_missing_comes_with_the_one_command_to_run(tmp_path, name, command):
    with pytest.raises(errors.DataMissing) as caught:
        datasets.find(name, tmp_path / "nowhere")
    assert str(caught.value).endswith(f"Run: {command}")
    assert not (tmp_path / "nowhere").exists()


def test_a_near_name_is_suggested(folder):
    with pytest.raises(
        errors.DataMissing, match="did you mean 'yelp'.*Prepared: movielens-20m, yelp"
    ):
        datasets.find("yelpp", folder)


def test_a_path_that_is_missing(tmp_path):
    with pytest.raises(errors.DataMissing, match=r"no file .*gone\.npz.*clubcascade data pools"):
        datasets.find(tmp_path / "gone.npz")


def test_a_prepared_file_can_be_given_by_its_path(folder):
    assert datasets.find(folder / "yelp.npz").name == "yelp"
    assert datasets.find(str(folder / "yelp.npz")) is datasets.find("yelp", folder)


def test_a_file_that_is_no_zip_is_not_missing_but_wrong(tmp_path):
    (tmp_path / "some.npz").write_bytes(b"text")
    with pytest.raises(errors.InvalidData, match="must be a whole .npz file"):
        datasets.find(tmp_path / "some.npz")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "-a", "a.npz", "ü", "a" * 101, 7])
def test_names_that_no_file_should_have(name):
    with pytest.raises(errors.InvalidArgument, match="name must be"):
        checked_name(name)


def test_data_missing_is_a_lookup_error():
    assert issubclass(errors.DataMissing, LookupError)
    assert issubclass(errors.InvalidData, ValueError)
    assert issubclass(errors.DownloadFailed, OSError)
