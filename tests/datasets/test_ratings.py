import pytest

from clubcascade import datasets, errors
from tests.datasets.made import RATINGS, csv_text, pairs


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my ratings.csv"
    path.write_text(csv_text("who,what,how,when"))
    return path


def prepared(file, **options):
    options = {"user": "who", "item": "what", "folder": file.parent / "data"} | options
    return datasets.prepare_interactions(file, **options).data


def test_only_ratings_of_at_least_that_count(file):
    data = prepared(file, rating="how", at_least=3.5)
    assert pairs(data) == {(str(u), str(i)) for u, i, r in RATINGS if r >= 3.5}
    assert data.source["unliked"] == 2
    assert data.source["options"] == {
        "user": "who",
        "item": "what",
        "rating": "how",
        "at_least": 3.5,
    }


def test_the_rating_column_is_found_by_its_name(file):
    file.write_text(csv_text("user,item,Stars,when"))
    data = prepared(file, user=None, item=None, at_least=3.5)
    assert data.source["unliked"] == 2


def test_ratings_that_are_missing_do_not_count(file):
    file.write_text("who,what,how\na,x,5\na,y,\nb,x,1\n")
    assert pairs(prepared(file, rating="how", at_least=2)) == {("a", "x")}


def test_times_are_noted(file):
    data = prepared(file, time="when")
    assert (data.source["first"], data.source["last"]) == ("1000", "1005")


def test_the_name_is_the_files_unless_given(file):
    assert prepared(file).name == "my-ratings"
    assert prepared(file, name="other").name == "other"
    assert sorted(datasets.prepared(file.parent / "data")) == ["my-ratings", "other"]


def test_the_command_that_prepares_it_again(file):
    assert prepared(file, rating="how", at_least=4.0).source["command"] == (
        f"clubcascade data interactions --path '{file}' --name my-ratings --user who --item what "
        "--rating how --at-least 4.0"
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"user": "whom"}, errors.InvalidData, "no column 'whom'; did you mean 'who'?"),
        ({"item": "x"}, errors.InvalidData, "Columns found: 'who', 'what', 'how', 'when'"),
        ({"user": None}, errors.InvalidData, "looks like the user; name it with --user"),
        ({"rating": "how"}, errors.InvalidArgument, "at_least must say which ratings count"),
        ({"at_least": 3}, errors.InvalidData, "looks like the rating"),
        ({"at_least": float("nan"), "rating": "how"}, errors.InvalidArgument, "at_least must be"),
        ({"at_least": 9, "rating": "how"}, errors.InvalidData, "no rating of at least 9; its best"),
        ({"at_least": 9, "rating": "who"}, errors.InvalidArgument, "must be a column of its own"),
        ({"item": "who"}, errors.InvalidArgument, "must be a column of its own, got 'who' twice"),
        ({"time": "then"}, errors.InvalidData, "no column 'then'; did you mean 'when'?"),
        ({"name": "../x"}, errors.InvalidArgument, "name must be"),
    ],
)
def test_wrong_options(file, options, error, words):
    with pytest.raises(error, match=words):
        prepared(file, **options)
    assert not (file.parent / "data").exists()


def test_a_rating_that_is_no_number_is_named_with_its_row_and_column(file):
    file.write_text("how,who,note,what\n3,a,,x\n4,b,,y\ngood,a,,x\n5,b,,x\n")
    words = r"my ratings.csv cannot be read: .*column 'how'.*[Rr]ow #4.*'good'"
    with pytest.raises(errors.InvalidData, match=words):
        prepared(file, rating="how", at_least=3)


def test_a_row_that_is_too_short_is_named(file):
    file.write_text("who,what\na,x\nb\n")
    with pytest.raises(errors.InvalidData, match="cannot be read: .*[Rr]ow #3: Expected 2 columns"):
        prepared(file)


def test_no_such_file(tmp_path):
    with pytest.raises(errors.DataMissing, match="no such file"):
        datasets.prepare_interactions(tmp_path / "gone.csv", folder=tmp_path)
    with pytest.raises(errors.InvalidData, match="must be a file, got the folder"):
        datasets.prepare_interactions(tmp_path, folder=tmp_path)
