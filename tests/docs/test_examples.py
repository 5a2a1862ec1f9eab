"""The code in the pages runs, and prints what the pages say."""

import doctest

import pytest

from clubcascade.policies import POLICIES
from tests.docs.pages import DOCS, PAGES, ROOT, fences, name_of, read


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
    monkeypatch.setattr(POLICIES, "_known", dict(POLICIES._known))  # a page may register its own
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
