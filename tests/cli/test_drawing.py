from __future__ import annotations

from pathlib import Path

import pytest

from clubcascade.cli.drawing import Drawing
from clubcascade.experiment.cells import plan
from clubcascade.experiment.results import write_results
from clubcascade.experiment.running import run
from tests.experiment import tiny


@pytest.fixture
def folders(tmp_path) -> list[Path]:
    """A result folder, and one without results."""
    experiment = tiny.experiment(seeds=1, policies=[tiny.policy("random", "random")])
    (cell,) = plan(experiment)
    made = [tmp_path / "full", tmp_path / "empty"]
    for folder in made:
        folder.mkdir()
    write_results(experiment, [(cell, run(cell))], made[0])
    write_results(experiment, [], made[1])
    return made


@pytest.mark.parametrize("aside", [True, False])
def test_every_picture_is_yielded_once(folders, aside):
    with Drawing(aside=aside) as drawing:
        for folder in folders:
            drawing.start(folder)
        paths = [*drawing.finished(), *drawing.rest()]
        assert list(drawing.rest()) == []
    assert len(paths) == len(set(paths)) and all(path.is_file() for path in paths)
    assert {path.parent for path in paths} == {folders[0]}
    assert {"figure.png", "figure.svg"} <= {path.name for path in paths}


def test_an_error_in_the_other_process_is_raised_here(tmp_path):
    with pytest.raises(ValueError, match="not a result folder"), Drawing(aside=True) as drawing:
        drawing.start(tmp_path)
        list(drawing.rest())
