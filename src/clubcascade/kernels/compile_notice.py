"""Say so when the first call compiles: half a minute of silence looks like a hang."""

from __future__ import annotations

import logging
import sys
from typing import Any

from numba.core import event

MESSAGE = (
    "clubcascade: compiling for this machine (about 20 seconds, once; the next process starts warm)"
)
_LOG = logging.getLogger("clubcascade")


class CompileNotice(event.Listener):
    """Tells once per process that a kernel of ours is being compiled."""

    def __init__(self) -> None:
        self.announced = False

    def on_start(self, event: Any) -> None:
        """Log it, and print it where a person is looking."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", None) or ""
        if self.announced or not module.startswith("clubcascade."):
            return
        self.announced = True
        _LOG.info(MESSAGE)
        if sys.stderr is not None and sys.stderr.isatty():
            print(MESSAGE, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Say nothing."""


NOTICE = CompileNotice()
event.register("numba:compile", NOTICE)
