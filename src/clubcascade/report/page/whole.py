"""The page: everything in one file that opens from disk and asks nobody for anything."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from clubcascade.experiment.cell_files import written
from clubcascade.experiment.config import read_experiment, shipped
from clubcascade.report.claims import CLAIMS, Judged, judge
from clubcascade.report.folders import PAPER, Broken, Run, find_runs, first_look_words
from clubcascade.report.measures import MEASURES
from clubcascade.report.page.claims_table import claims_section, verdict_counts
from clubcascade.report.page.header import runs_table
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.section import run_section
from clubcascade.report.page.series import POINTS, run_data
from clubcascade.report.style import COLOURS, DARK_COLOURS, DASHES, MARKERS, WIDE

NAME = "report.html"
LARGEST = 3_000_000
"""Bytes of a page; curves are thinned further above that."""

FEWEST = 50
COMMAND = "clubcascade reproduce --figure"
SCRIPTS = ("numbers.js", "marks.js", "scale.js", "panel.js", "pointer.js", "figure.js", "start.js")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What the browser may load for this page: nothing but what is in it."""


_OPENING = """"use strict";
(() => {
const DATA = JSON.parse(document.getElementById("data").textContent);
"""


def write_report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of a result folder, or of a folder of result folders, as one HTML page.

    Parameters
    ----------
    folder
        Where the results are.
    out
        The page; by default ``report.html`` in that folder.

    Returns
    -------
    Path
        The page that was written.
    """
    runs, broken = find_runs(folder)
    path = Path(folder) / NAME if out is None else Path(out)
    content = page(runs, broken).encode()
    with written(path) as file:
        file.write(content)
    return path


def page(runs: Sequence[Run], broken: Sequence[Broken] = ()) -> str:
    """Return the page, with as many points per curve as its size allows."""
    judged = [judge(claim, runs) for claim in CLAIMS]
    body = _body(runs, broken, judged)
    points = POINTS
    while True:
        text = _document(body, _data(runs, points))
        if len(text.encode()) <= LARGEST or points <= FEWEST:
            return text
        points //= 2


def _document(body: Markup, data: dict[str, Any]) -> str:
    encoded = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", "clubcascade: report"),
        tag("style", Markup(_colours() + _asset("page.css"))),
    )
    scripts = "\n".join(_asset(name) for name in SCRIPTS)
    whole = tag(
        "html",
        head,
        tag(
            "body",
            body,
            tag("script", Markup(safe), type="application/json", id="data"),
            tag("script", Markup(_OPENING + scripts + "\n})();\n")),
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{whole}\n"


def _body(runs: Sequence[Run], broken: Sequence[Broken], judged: Sequence[Judged]) -> Markup:
    look = first_look_words(runs)
    header = tag(
        "header",
        tag("h1", "Online clustering of cascading bandits: what the experiments show"),
        tag("p", tag("b", "A first look"), look, class_="notice") if look else None,
        tag(
            "p",
            "The experiments of S. Li, “Online Clustering of Contextual Cascading Bandits” (AAAI "
            "2018), run again by clubcascade, with every setting stated, intervals over seeds, and "
            "the paper's claims one by one.",
        ),
        tag("p", tag("a", "The paper's claims", href="#claims"), ":"),
        verdict_counts(judged),
        runs_table(runs),
        [tag("p", f"{b.name} cannot be read: {b.error}", class_="notice failed") for b in broken],
        _missing(runs),
        tag("button", "dark or light", type="button", id="theme"),
    )
    sections = [run_section(run) for run in runs]
    return tag("main", header, sections, claims_section(judged))


def _missing(runs: Sequence[Run]) -> Markup | None:
    """Say which of the shipped experiments were not run, and how to run them."""
    there = {run.figure for run in runs}
    known = sorted(shipped(), key=lambda name: (name not in PAPER, (*PAPER, name).index(name)))
    absent = [name for name in known if name not in there]
    if not absent:
        return None
    rows = [
        tag("li", f"{read_experiment(name).title}: ", tag("code", f"{COMMAND} {name}"))
        for name in absent
    ]
    summary = tag("summary", f"{len(absent)} experiment{'s' if len(absent) > 1 else ''} not run")
    return tag("details", summary, tag("ul", rows), class_="notice")


def _data(runs: Sequence[Run], points: int) -> dict[str, Any]:
    return {
        "measures": {
            name: {"label": m.label, "short": m.short, "better": m.better}
            for name, m in MEASURES.items()
        },
        "dashes": [list(dash) for dash in DASHES],
        "markers": list(MARKERS),
        "colours": len(COLOURS),
        "wide": list(WIDE),
        "runs": [run_data(run, points) for run in runs if not run.results.curves.empty],
    }


def _colours() -> str:
    light = "".join(f"--line{i}:{colour};" for i, colour in enumerate(COLOURS))
    dark = "".join(f"--line{i}:{colour};" for i, colour in enumerate(DARK_COLOURS))
    return (
        f":root{{{light}}}\n"
        "@media screen and (prefers-color-scheme: dark)"
        f"{{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
