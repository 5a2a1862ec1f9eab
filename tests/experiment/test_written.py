from __future__ import annotations

import tomllib

from clubcascade.experiment.config import parse, read_experiment
from clubcascade.experiment.files import shipped
from clubcascade.experiment.results import experiment_text
from tests.experiment import tiny


def test_a_written_experiment_is_read_back():
    experiment = tiny.experiment(figure=3, seeds=[4, 2], title='a "quoted" θ')
    assert parse(tomllib.loads(experiment_text(experiment))) == experiment


def test_a_written_experiment_keeps_what_panels_and_tuning_say():
    table = tiny.tuned_content()
    table["panels"][0] |= {"rounds": 40, "k": 1, "policies": ["C3"], "tuned": {"C3": {"beta": 2.0}}}
    table["measure"] = "ctr"
    experiment = parse(table)
    text = experiment_text(experiment)
    assert parse(tomllib.loads(text)) == experiment
    assert "[panels.tuned.C3]\nbeta = 2.0" in text


def test_shipped_experiments_are_read_back():
    for name in shipped():
        experiment = read_experiment(name, quick=True)
        assert parse(tomllib.loads(experiment_text(experiment))) == experiment
