from __future__ import annotations

from clubcascade.cli.progress import progress_bar


def test_the_bar_is_silent_where_stderr_is_no_terminal(capsys):
    with progress_bar("figure") as move:
        move("compiling", 0, 10)
        move("running", 5, 10)
    assert capsys.readouterr() == ("", "")


def test_the_bar_says_what_is_done_and_what_is_left(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("figure") as move:
        move("compiling", 4, 10)
        move("running", 6, 10)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "figure: running" in shown.err and "left" in shown.err
    assert "2/6" in shown.err
