"""The code in the pages runs, and prints what the pages say."""

import doctest
import sys
import types

import pytest

from clubcascade import policies
from clubcascade.checks import check_policy
from tests.docs.pages import DOCS, PAGES, ROOT, fences, name_of, read, titled


def dialogues(page):
    """The blocks with prompts, but for whole files, which have a title."""
    blocks = fences(read(page))
    return [(line, code) for info, line, code in blocks if ">>>" in code and "title" not in info]


def files(page):
    """The TOML files that a page prints: its code finds them in the folder."""
    blocks = fences(read(page), "toml")
    return {info[7:-1]: code for info, _, code in blocks if info.startswith('title="')}


DIALOGUES = [page for page in PAGES if dialogues(page)]
SCRIPTS = [ROOT / "README.md", DOCS / "index.md"]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", DIALOGUES, ids=name_of)
def test_dialogues(page, tmp_path, monkeypatch):
    """The ``>>>`` blocks of a page are one program."""
    monkeypatch.chdir(tmp_path)
    name = name_of(page)
    for file, text in files(page).items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said = []
    names = {}
    for line, code in dialogues(page):
        test = doctest.DocTestParser().get_doctest(code, {}, name, name, line - 1)
        test.globs = names
        runner.run(test, out=said.append, clear_globs=False)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("page", SCRIPTS, ids=name_of)
def test_scripts(page, tmp_path, monkeypatch, capsys):
    """The other blocks are a script; comments ``# ->`` say what it prints."""
    monkeypatch.chdir(tmp_path)
    code = "".join(code for _, _, code in fences(read(page)))
    promised = [line[5:] for line in code.splitlines() if line.startswith("# -> ")]
    assert promised
    names = {"__name__": "page"}
    exec(compile(code, name_of(page), "exec"), names)
    assert capsys.readouterr().out.splitlines() == promised


def test_readme_example_is_short():
    (block,) = fences(read(ROOT / "README.md"))
    assert len([line for line in block[2].splitlines() if line.strip()]) <= 30


def test_the_policy_of_one_file(tmp_path, monkeypatch):
    """The file that CONTRIBUTING.md prints is found by its folder and keeps all promises."""
    title = "src/clubcascade/policies/greedy_ridge.py"
    (tmp_path / "greedy_ridge.py").write_text(titled(read(ROOT / "CONTRIBUTING.md"), title))
    monkeypatch.setattr(policies, "__path__", [*policies.__path__, str(tmp_path)])
    found = policies._own()
    module = sys.modules["clubcascade.policies.greedy_ridge"]
    try:
        assert set(found) - set(policies.POLICIES) == {"greedy_ridge"}
        monkeypatch.setitem(policies.POLICIES, "greedy_ridge", found["greedy_ridge"])
        for policy in found["greedy_ridge"].examples():
            check_policy(policy)
        assert doctest_failures(module) == 0
    finally:
        del sys.modules[module.__name__]
        vars(policies).pop("greedy_ridge", None)


def doctest_failures(module: types.ModuleType) -> int:
    return doctest.testmod(module).failed
