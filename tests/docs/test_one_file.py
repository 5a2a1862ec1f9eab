"""A policy is one file: with that of CONTRIBUTING.md in its folder, all tests of policies pass."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import _CacheLocator

from tests.docs.pages import ROOT
from tests.outside import GREEDY, environment

TESTS = [  # those that go through the registry, but for the ones that measure time
    "src/clubcascade/policies/greedy_ridge.py",
    "tests/checks/test_policies.py",
    "tests/docs/test_reference.py",
    "tests/policies/test_batches.py",
    "tests/policies/test_parameters.py",
    "tests/service/test_recommender.py",
    "tests/simulation/test_run.py",
    "tests/test_model_file.py",
    "tests/test_public_names.py",
]
WHICH = "greedy_ridge or test_reference or test_public_names"


def take_along_compiled_kernels(root):
    """The cache of NUMBA_CACHE_DIR is by path, with a stamp of the kernels."""
    if cache := os.environ.get("NUMBA_CACHE_DIR"):
        file = "src/clubcascade/kernels/jit.py"
        old, new = (
            Path(cache, _CacheLocator.get_suitable_cache_subpath(str(where / file)))
            for where in (ROOT, root)
        )
        if old.is_dir():
            shutil.copytree(old, new)


def test_a_policy_is_one_file(tmp_path):
    for part in ROOT.iterdir():
        if part.name in ("src", "tests", "docs", "scripts"):
            shutil.copytree(part, tmp_path / part.name)  # compiled kernels come along
        elif part.is_file():
            shutil.copy2(part, tmp_path)
    take_along_compiled_kernels(tmp_path)
    (tmp_path / "src/clubcascade/policies/greedy_ridge.py").write_text(GREEDY)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", WHICH, *TESTS],
        env=environment(tmp_path / "src"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "skipped" not in done.stdout
