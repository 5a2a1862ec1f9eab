"""The lock of a policy: who waits gets it before who has just given it back."""

from threading import Lock


class FairLock:
    """A lock that is handed over to who waits.

    Who gives a plain lock back and takes it at once again mostly gets it: those who wait are still
    waking up. Here the first of them holds ``_next`` as well, which nobody overtakes.
    """

    __slots__ = ("_held", "_next")

    def __init__(self) -> None:
        self._held = Lock()
        self._next = Lock()

    def __enter__(self) -> None:
        if self._next.locked() or not self._held.acquire(blocking=False):
            with self._next:
                self._held.acquire()

    def __exit__(self, *error: object) -> None:
        self._held.release()
