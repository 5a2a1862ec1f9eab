"""The cells of the notebooks run, and the text between them is true."""

import json
import re

import matplotlib
import pytest

from tests.docs.pages import DOCS, name_of, read

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def cells(notebook, kind):
    found = json.loads(read(notebook))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_no_outputs_are_kept_and_links_lead_somewhere(notebook):
    for cell in json.loads(read(notebook))["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", "".join(cells(notebook, "markdown"))):
        assert (notebook.parent / target).exists(), target


def test_first_lists(tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in cells(DOCS / "notebooks" / "first-lists.ipynb", "code"):
        exec(compile(code, "first-lists.ipynb", "exec"), names)
    printed = capsys.readouterr().out
    assert "These lists are better than popularity" in printed
    assert printed.count(" likes ") == 4
    trained, nothing, popular = names["regret"].values()
    for lists in (300, 1_000, 3_000, 6_000):
        assert trained[lists - 1] < 0.8 * nothing[lists - 1], "a lead from the first list on"
    assert max(trained[-1], nothing[-1]) < 0.6 * popular[-1]
    assert sum(max(row) for row in names["table"]) >= 0.9 * 120, "cohorts are of one taste"
