from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from clubcascade.experiment.config import parse, read_experiment, shipped
from clubcascade.experiment.toml_text import experiment_text, value_text
from tests.experiment import tiny

texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
values = st.recursive(plain, lambda v: st.lists(v) | st.dictionaries(texts, v), max_leaves=8)


@given(values)
def test_a_written_value_is_read_back(value):
    assert tomllib.loads(f"x = {value_text(value)}")["x"] == value


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
    assert "tuned = {C3 = {beta = 2.0}}" in text


def test_shipped_experiments_are_read_back():
    for name in shipped():
        experiment = read_experiment(name, quick=True)
        assert parse(tomllib.loads(experiment_text(experiment))) == experiment
