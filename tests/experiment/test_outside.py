"""A policy of another package in an experiment: it runs, is tuned, and names its own results."""

import pandas as pd
import pytest

from tests.outside import GREEDY, distribution, python, said

FILE = """
title = "outside"
rounds = 40
k = 2
seeds = 2
tune = {seeds = [50, 51], rounds = 20}

[[panels]]
title = "two clusters"
environment = "synthetic"
parameters = {n_users = 4, n_clusters = 2, n_items = 8, n_features = 3, gap = 0.5}

[[policies]]
policy = "greedy_ridge"
label = "greedy"
tune = {reg = [0.5, 2.0]}

[[policies]]
policy = "random"
"""

HASHES = """
from clubcascade.experiment.sources import sources_of
print(sources_of("greedy_ridge", "synthetic"), sources_of("random", "synthetic"))
"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "file.toml").write_text(FILE)
    return distribution(tmp_path / "site")


def run(site, *options):
    """``clubcascade run`` in workers; the names of the cells."""
    where = site.parent
    arguments = ("-m", "clubcascade", "run", "file.toml", "--out", "out", "--jobs", "2", *options)
    done = python(site, *arguments, cwd=where)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name for path in (where / "out" / "cells").iterdir()}


def policies(site):
    return set(pd.read_parquet(site.parent / "out" / "results.parquet")["policy"])


def test_it_runs_and_is_tuned_in_workers(site):
    before = run(site)
    assert policies(site) == {"greedy", "random"}
    assert "reg=" in (site.parent / "out" / "tuning.csv").read_text()
    assert run(site) == before  # nothing is run again
    with (site / "other_lab" / "greedy.py").open("a") as file:
        file.write("# edited\n")
    after = run(site)
    assert before < after and len(after) == 2 * len(before) - 2  # all again but the two of random


def test_it_runs_on_ray(site):
    pytest.importorskip("ray")
    run(site, "--engine", "ray")
    assert policies(site) == {"greedy", "random"}


def test_every_module_of_its_package_counts_and_all_that_they_import(site):
    def hashes():
        return said(site, HASHES).split()

    found = [hashes()]
    helper = site / "other_lab" / "more" / "helper.py"
    helper.parent.mkdir()
    for text in ("X = 1", "from clubcascade.graph import UserGraph"):
        helper.write_text(text)
        found.append(hashes())
    (site / "elsewhere.py").write_text("")
    assert hashes() == found[-1]
    greedy, random = zip(*found, strict=True)
    assert len(set(greedy)) == 3 and len(set(random)) == 1


def test_a_policy_of_a_script_runs_in_its_workers(site):
    script = site.parent / "script.py"
    script.write_text(
        GREEDY.replace("class GreedyRidge", "import clubcascade\n@clubcascade.register\nclass Own")
        + "\n\nif __name__ == '__main__':\n"
        "    from clubcascade.experiment import read_experiment, run_experiment\n"
        "    report = run_experiment(read_experiment('file.toml'), 'out', jobs=2)\n"
        "    assert report.failures == (), report.failures\n"
    )
    (site.parent / "file.toml").write_text(FILE.replace("greedy_ridge", "own"))
    done = python(site, "script.py", cwd=site.parent)
    assert done.returncode == 0, done.stderr
    assert policies(site) == {"greedy", "random"}


def test_a_policy_without_a_file_is_refused_with_what_to_do(site):
    code = GREEDY.replace(
        "class GreedyRidge", "import clubcascade\n@clubcascade.register\nclass Own"
    )
    code += """
from clubcascade.errors import InvalidConfig
from clubcascade.experiment.sources import sources_of
try:
    sources_of("own", "synthetic")
except InvalidConfig as error:
    print(error)
"""
    text = said(site, code)
    assert "must have a source file" in text and "Own of __main__" in text and "module" in text
