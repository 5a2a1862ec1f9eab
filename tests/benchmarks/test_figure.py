from __future__ import annotations

import json

import matplotlib as mpl

from benchmarks.engine.figure import growth, save_growth
from clubcascade.report.style import SETTINGS

TABLES = {
    "users": [{"n_users": n, "microseconds": 4.0 + n / 1e6} for n in (1_000, 1_000_000)],
    "items": [{"n_items": n, "microseconds": 9.0, "product": n / 300} for n in (200, 1_000)],
    "features": [{"n_features": d, "microseconds": 2.0 + d} for d in (1, 16, 256)],
    "start": [{"what": "import", "seconds": 0.5}],
}


def write(folder, tables):
    rows = [{"name": name, "rows": rows} for name, rows in tables.items()]
    (folder / "bench.json").write_text(json.dumps({"format": 1, "tables": rows}))


def test_a_panel_per_size_with_labels_and_logarithms():
    figure = growth(TABLES)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["users (sparse start)", "items", "features"]
    assert figure.axes[0].get_ylabel() == "microseconds a round"
    for axes in figure.axes:
        assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [len(axes.lines) for axes in figure.axes] == [1, 2, 1]
    assert figure.axes[1].get_legend() is not None
    assert len({line.get_color() for line in figure.axes[1].lines}) == 2
    assert [text.get_text() for text in figure.axes[2].texts] == ["3", "18", "258"]


def test_missing_tables_get_no_panel():
    assert len(growth({"items": TABLES["items"]}).axes) == 1
    assert growth({"start": TABLES["start"]}) is None


def test_it_is_saved_from_the_file_alone_twice_the_same(tmp_path):
    write(tmp_path, TABLES)
    before = {key: mpl.rcParams[key] for key in SETTINGS}
    paths = save_growth(tmp_path)
    assert [path.name for path in paths] == ["growth.png", "growth.svg"]
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"\x89PNG") and b"<svg" in first[1]
    assert [path.read_bytes() for path in save_growth(tmp_path)] == first
    assert {key: mpl.rcParams[key] for key in SETTINGS} == before


def test_nothing_to_draw_is_no_file(tmp_path):
    write(tmp_path, {"start": TABLES["start"]})
    assert save_growth(tmp_path) == []
