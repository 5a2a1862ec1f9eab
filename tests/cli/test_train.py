"""``clubcascade train``: two files in, a model and a table out."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from clubcascade import training
from clubcascade.cli.app import app
from tests.features import made


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made.write_csv(tmp_path / "clicks.csv", made.clicks(60))
    made.write_csv(tmp_path / "items.csv", made.shelf())
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["train", *arguments])


def test_two_files_become_a_model_and_a_table(shop):
    done = run("clicks.csv", "--items", "items.csv", "--out", "shop.cc", "--no-als")
    assert done.exit_code == 0, done.output
    for line in (
        "category (category): 3 values",
        "judged on 96 clicks: the last clicks of all",
        "popularity in category",
        "These lists are better than popularity",
        "wrote shop.cc",
    ):
        assert line in done.output
    assert training.load("shop.cc").recommend("u3", 2)


def test_options(shop):
    done = run(
        "clicks.csv", "--items", "items.csv", "--features", "4", "--kind", "price=category",
        "--kind", "title=ignore", "--item-id", "item", "--split", "user", "--k", "3", "--no-als",
        "--policy", "c3_ucb",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "price (category): 7 values" in done.output
    assert "not used: title" in done.output
    assert "the last clicks of each user" in done.output
    assert "precision@3" in done.output
    assert (shop / "model.cc").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.csv"], "no such file"),
        (["clicks.csv", "--out", "no/where.cc"], "--out must be in a folder that exists"),
        (["clicks.csv", "--out", "."], "--out must be a file, got the folder"),
        (["clicks.csv", "--kind", "price"], "--kind must be COLUMN=KIND, got 'price'"),
        (["clicks.csv", "--user", "customer"], "clicks.csv has no column 'customer'"),
        (["clicks.csv", "--split", "month"], "split must be one of 'log', 'user', got 'month'"),
        (["clicks.csv", "--policy", "cohort"], "did you mean 'cohort_cascade'?"),
        (["items.csv"], "items.csv has no column that looks like the user"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, sentence, shop):
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert done.output.count("\n") == 1
    assert not (shop / "model.cc").exists()


def test_a_missing_extra_is_named():
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from clubcascade.cli import main\n"
        "sys.argv = ['clubcascade', 'train', 'clicks.csv']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert 'features need polars: pip install "clubcascade[features]"' in done.stderr
