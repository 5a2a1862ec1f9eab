"""Say so when a call compiles: half a minute of silence looks like a hang."""

from __future__ import annotations

import logging
import sys
from typing import Any

from numba.core import event

PARTS = {"rank": ("ranking", 6), "learn": ("learning", 13), "run": ("simulating", 20)}
"""What is compiled and how many seconds that takes, about, by how a kernel's name begins."""
LONGER = {"Cohort": 2}
"""States whose kernels take so many times as long."""
_LOG = logging.getLogger("clubcascade")


def message(name: str, state: str) -> str:
    """Return what is said when a kernel is compiled for a kind of state.

    >>> print(message("learn_many", "Cohort"))
    clubcascade: compiling learning for this machine (about 26 s, once;
    the next process starts warm)
    """
    what, seconds = PARTS.get(name.split("_")[0], ("", 1))
    told = f"compiling {what} for" if what else "compiling for"
    about = f"about {seconds * LONGER.get(state, 1)} s, once" if what else "once"
    return f"clubcascade: {told} this machine ({about}; the next process starts warm)"


class CompileNotice(event.Listener):
    """Tells that a kernel of ours is being compiled: each thing that is waited for, once."""

    def __init__(self) -> None:
        self.depth = 0
        self.announced: set[str] = set()

    def on_start(self, event: Any) -> None:
        """Log it, and print it where a person is looking."""
        self.depth += 1
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module, name = (getattr(function, key, None) or "" for key in ("__module__", "__name__"))
        if self.depth > 1 or not module.startswith("clubcascade.") or name.startswith("_"):
            return  # within another one, of somebody else, or the quick ones of a structure
        kinds = [type(kind).__name__.removesuffix("Type") for kind in event.data.get("args", ())]
        text = message(name, kinds[0] if kinds else "")
        if text in self.announced or (self.announced and name.split("_")[0] not in PARTS):
            return
        self.announced.add(text)
        _LOG.info(text)
        if sys.stderr is not None and sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Say nothing."""
        self.depth -= 1


NOTICE = CompileNotice()
event.register("numba:compile", NOTICE)
