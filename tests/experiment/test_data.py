from __future__ import annotations

import numpy as np
import pytest

from clubcascade import datasets
from clubcascade.errors import ClubCascadeError
from clubcascade.experiment import data
from clubcascade.experiment.config import parse
from tests.experiment import tiny


@pytest.fixture
def pools(tmp_path):
    """Two small pools files, by name."""
    for seed, name in enumerate(("one", "two")):
        rng = np.random.default_rng(seed)
        np.savez(tmp_path / f"{name}.npz", clicks=rng.random((20, 15)) < 0.3)
    return {name: str(tmp_path / f"{name}.npz") for name in ("one", "two")}


def two_panels(one, two):
    panels = [tiny.pool(one, "(a) {data}"), tiny.pool(two, "(b) {data}"), tiny.panel("(c)")]
    return tiny.content(title="Clicks on {data}", panels=panels)


def test_titles_name_the_data(pools):
    experiment = parse(two_panels(**pools))
    assert [panel.title for panel in experiment.panels] == ["(a) one", "(b) two", "(c)"]
    assert experiment.title == "Clicks on one and two"


def test_data_are_replaced_all_or_one_by_one(pools):
    both = parse(two_panels("x", "y"), data={"": pools["one"]})
    assert [panel.title for panel in both.panels] == ["(a) one", "(b) one", "(c)"]
    one = parse(two_panels("x", "y"), data={"y": pools["two"]})
    assert [panel.title for panel in one.panels] == ["(a) x", "(b) two", "(c)"]
    assert data.data_names(one, [pools["two"], "z"]) == ["two"]
    assert data.data_names(one, []) == []


def test_panels_without_their_data_are_left_out(pools):
    whole, missing = data.runnable(parse(two_panels(**pools)))
    assert len(whole.panels) == 3 and missing == []
    some, missing = data.runnable(parse(two_panels(pools["one"], "nowhere.npz")))
    assert [panel.title for panel in some.panels] == ["(a) one", "(c)"]
    assert len(missing) == 1 and "nowhere.npz" in str(missing[0])
    none, missing = data.runnable(parse(tiny.content(panels=[tiny.pool("nowhere.npz")])))
    assert none is None and len(missing) == 1


def test_data_that_change_during_a_run_are_noticed(pools):
    found = datasets.find(pools["one"])
    assert data.clicks_of(pools["one"], found.fingerprint).nnz == found.clicks.nnz
    with pytest.raises(ClubCascadeError, match="was changed while the experiment ran"):
        data.clicks_of(pools["one"], "another")


def test_lent_data_need_no_file(pools, monkeypatch):
    found = datasets.find(pools["one"])
    monkeypatch.setattr(data, "_LENT", {})
    data.lend([found])
    assert data.clicks_of("nowhere", found.fingerprint) is found.clicks
