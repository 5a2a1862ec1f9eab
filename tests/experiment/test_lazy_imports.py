from __future__ import annotations

import subprocess
import sys

import pytest

import clubcascade.experiment
import clubcascade.report
from clubcascade.errors import MissingExtra
from clubcascade.experiment.lazy_imports import lazy_attributes


@pytest.mark.parametrize("room", [clubcascade.experiment, clubcascade.report])
def test_every_public_name_opens(room):
    for name in room.__all__:
        assert getattr(room, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        room.nothing  # noqa: B018


def test_the_rooms_are_imported_without_extras():
    code = (
        "import sys\n"
        "for name in ('pandas', 'matplotlib', 'typer', 'rich'): sys.modules[name] = None\n"
        "import clubcascade.cli, clubcascade.experiment, clubcascade.report\n"
        "from clubcascade.experiment import read_experiment\n"
        "read_experiment('synthetic')\n"
        "from clubcascade.errors import MissingExtra\n"
        "try: clubcascade.experiment.run_experiment\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert 'needs pandas: pip install "clubcascade[experiments]"' in done.stdout


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "clubcascade.report.figures", raising=False)
    with pytest.raises(MissingExtra, match=r"needs matplotlib: pip install"):
        lazy_attributes("clubcascade.report", {"figures": ["FIGURES"]})("FIGURES")
