from __future__ import annotations

from collections import Counter

from tests.report.recorded import RECORD, text


def test_verdicts_and_numbers_are_those_of_version_0_1_0():
    expected = RECORD.read_text(encoding="utf-8").splitlines()
    assert text().splitlines() == expected


def test_the_record_has_every_outcome():
    """A record of one verdict only would let a broken rule pass."""
    rows = [line for line in RECORD.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    sentences = Counter(line.rsplit(": ", 1)[1].split(" (as")[0] for line in rows if line[0] != " ")
    for verdict in ("holds", "partly", "does not hold", "undecided", "not measured", "no verdict"):
        assert sentences[verdict] >= 3, verdict
    assert sentences["holds, vacuous"] >= 1
    assert sum("not reached" in row for row in rows) > 20
