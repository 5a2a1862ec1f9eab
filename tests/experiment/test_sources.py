"""The name of a result: it changes with the code that made it, and with no other code."""

import shutil
from pathlib import Path

import pytest

import clubcascade
from clubcascade.experiment import sources
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.policies import POLICIES


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Return what computes hashes anew in a copy of the package, after some edit."""
    copy = tmp_path / "clubcascade"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(clubcascade.__file__).parent, copy, ignore=ignored)
    monkeypatch.setattr(sources, "_ROOT", copy)

    def hashes(file=None):
        if file is not None:
            assert (copy / file).is_file()
            with (copy / file).open("a") as stream:
                stream.write("# edited\n")
        sources._sources_of.cache_clear()
        return {name: sources.sources_of(name, "synthetic") for name in POLICIES}

    yield hashes
    sources._sources_of.cache_clear()


def changed(edited, file):
    before = edited()
    after = edited(file)
    return {name for name in before if before[name] != after[name]}


def test_an_edit_in_one_policy_changes_its_own_results_only(edited):
    assert changed(edited, "policies/cohort_cascade.py") == {"cohort_cascade"}
    assert changed(edited, "kernels/cohort_assignment.py") == {"cohort_cascade"}


def test_an_edit_in_what_all_stand_on_changes_all(edited):
    for file in ("kernels/loop.py", "kernels/world.py", "core/catalog.py"):
        assert changed(edited, file) == set(POLICIES), file
    for file in ("experiment/running.py", "experiment/placeholders.py", "environments/draws.py"):
        assert changed(edited, file) == set(POLICIES), file


def test_an_edit_in_the_simulation_changes_all(edited):
    folder = Path(clubcascade.__file__).parent
    files = [file.relative_to(folder).as_posix() for file in folder.glob("simulation/*.py")]
    assert len(files) > 1
    for file in files:
        assert changed(edited, file) == set(POLICIES), file


def test_an_edit_elsewhere_changes_nothing(edited):
    for file in ("service/app.py", "report/style.py", "environments/pool.py", "cli/app.py"):
        assert changed(edited, file) == set(), file


def test_a_kernel_two_imports_away_counts(edited):
    assert {"club_cascade", "c3_ucb"} <= changed(edited, "kernels/ridge.py")
    assert "random" not in changed(edited, "kernels/ridge.py")


def test_bounds_have_a_hash_too():
    for name in BOUNDS:
        assert len(sources.sources_of(name, "synthetic")) == 16
