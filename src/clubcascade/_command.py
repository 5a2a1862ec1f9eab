"""Ctrl-C outside of a command's work: it ends the command ``clubcascade`` with one line.

Loading the modules takes a while, and an interrupt would then show a traceback of whatever was
being loaded. This module is loaded before all others. In any other program that imports clubcascade
it does nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130


def is_command() -> bool:
    """Whether this process is the command ``clubcascade``, or ``python -m clubcascade``."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        return sys.orig_argv[1:3] == ["-m", "clubcascade"]
    name = os.path.basename(program)
    return name.removesuffix(".exe") == "clubcascade"


def leave(number: int, frame: Any) -> None:
    """Say that the command was interrupted, and end it at once."""
    os.write(2, b"clubcascade: interrupted\n")
    os._exit(INTERRUPTED)


def guard() -> None:
    """Let Ctrl-C end this process quietly, if it is the command and nobody else has a say."""
    here = threading.current_thread() is threading.main_thread()
    if here and is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


@contextmanager
def at_work() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt meanwhile: work has something to tidy up."""
    guarded = signal.getsignal(signal.SIGINT) is leave
    if guarded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if guarded:
            signal.signal(signal.SIGINT, leave)


guard()
