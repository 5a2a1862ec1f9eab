"""The public surface: what is promised is there, and nothing else."""

import ast
import inspect
import subprocess
import sys

import pytest

import clubcascade as cc


def test_public_names_are_the_ones_there_are():
    public = set(cc._AT_FIRST_USE) | {
        name
        for name, value in vars(cc).items()
        if not name.startswith("_") and (not inspect.ismodule(value) or name in cc.__all__)
    }
    assert public | {"click", "datasets", "environments", "errors", "spanner", "theory"} == set(
        cc.__all__
    )
    assert all(hasattr(cc, name) for name in cc.__all__)
    assert set(cc.__all__) <= set(dir(cc))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        cc.nothing  # noqa: B018


def test_readers_of_the_source_see_the_names_where_they_come_from():
    tree = ast.parse(inspect.getsource(cc))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {name.name: node.module for node in imports for name in node.names}
    known = {name: f"clubcascade.{module}" for name, module in cc._AT_FIRST_USE.items()}
    assert seen == {name: known.get(name, "clubcascade") for name in cc.__all__}


def test_the_package_loads_nothing_before_it_is_used():
    code = (
        "import sys, clubcascade\n"
        "print([name for name in ('numpy', 'scipy', 'numba') if name in sys.modules])\n"
        "from clubcascade import *\n"
        "print(ClubCascade.__name__, errors.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\nClubCascade clubcascade.errors\n", "")
