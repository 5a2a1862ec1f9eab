from __future__ import annotations

from clubcascade.cli.progress import bytes_bar, experiment_bar
from clubcascade.experiment import Step


def test_the_bar_is_silent_where_stderr_is_no_terminal(capsys):
    with bytes_bar("data") as move:
        move("ratings", 5, 10)
    assert capsys.readouterr() == ("", "")


def test_the_bar_says_what_is_done_and_what_is_left(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with bytes_bar("data") as move:
        move("ratings", 2_000_000, 6_000_000)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "data: ratings" in shown.err and "2.0/6.0 MB" in shown.err and "left" in shown.err


def test_one_bar_goes_by_the_effort_of_all_runs(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with experiment_bar("") as move:
        move(Step("yelp: tuning", 0, 1200, 0.0))
        move(Step("yelp: running", 1000, 1200, 0.5))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "yelp: running" in shown.err and "1,000/1,200" in shown.err and "left" in shown.err


def test_the_bar_of_runs_is_silent_where_stderr_is_no_terminal(capsys):
    with experiment_bar("") as move:
        move(Step("yelp: running", 1, 2, 0.5))
    assert capsys.readouterr() == ("", "")


def test_what_is_printed_meanwhile_stays_on_stdout(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with experiment_bar("") as move:
        move(Step("yelp: running", 1, 2, 0.5))
        print("a table")
    shown = capsys.readouterr()
    assert shown.out == "a table\n" and "a table" not in shown.err
