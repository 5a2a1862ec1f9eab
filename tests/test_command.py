"""Ctrl-C at any moment of the command: never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clubcascade import _command

COMMAND = [sys.executable, "-m", "clubcascade", "reproduce", "--figure", "lists", "--quick"]


def heed_interrupts() -> None:
    """Undo that a shell ignores interrupts in what it runs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(folder: Path, seconds: float) -> tuple[int, str]:
    """Start the command, wait until it loads its modules and then a while, and interrupt it."""
    run = subprocess.Popen(
        [*COMMAND, "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    deadline = time.monotonic() + 600
    while "_multiarray_umath" not in Path(f"/proc/{run.pid}/maps").read_text():
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(seconds)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=600)
    return run.returncode, errors


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 0.6, 1.0, 2.0])
def test_no_moment_shows_a_traceback(tmp_path, seconds):
    code, errors = interrupted(tmp_path, seconds)
    assert "Traceback" not in errors
    assert errors.startswith("clubcascade: interrupted") and errors.count("\n") == 1
    assert code in (130, -signal.SIGINT)  # a shell shows 130 for both


@pytest.mark.parametrize(
    ("argv", "original", "answer"),
    [
        (["-m"], ["python", "-m", "clubcascade", "list"], True),
        (["-m"], ["python", "-m", "pytest", "clubcascade"], False),
        (["/usr/bin/clubcascade", "list"], ["python", "/usr/bin/clubcascade", "list"], True),
        (["C/clubcascade.exe"], ["python"], True),
        (["script.py"], ["python", "script.py"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_other_programs_are_left_alone(monkeypatch, argv, original, answer):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", original)
    assert _command.is_command() is answer


def test_importing_the_package_changes_no_handler():
    code = (
        "import signal, clubcascade\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=heed_interrupts)
    assert done.stdout == "True\n"
