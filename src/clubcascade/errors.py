"""The errors of clubcascade: each is also the builtin that a caller would expect.

::

    ClubCascadeError
    ├── InvalidArgument (ValueError)     an argument is out of its range
    │   ├── InvalidItems                 items of a wrong shape, not finite, or of norm above 1
    │   ├── InvalidFeedback              a click that the shown list cannot have had
    │   └── InvalidConfig                an experiment file that cannot be run
    ├── UnknownName (LookupError)        no policy, environment or figure of that name
    ├── UnknownUser (LookupError)        a question about a user that the policy has never met
    ├── ModelFileError (ValueError)      a file that is not a whole model of a known format
    ├── DataMissing (LookupError)        a data set that is not on this machine
    ├── InvalidData (ValueError)         a data file that cannot be used as it is
    ├── DownloadFailed (OSError)         a file that could not be fetched whole
    ├── StoreError (OSError)             a store that cannot be used now
    │   ├── StoreUnavailable             a write that did not become durable; nothing was learned
    │   ├── StoreLocked                  a store that a process has open which shares it with nobody
    │   ├── StoreFenced                  a store that is older than what this process has learned
    │   └── StoreDamaged                 a store whose checksums do not fit
    ├── MissingExtra (ImportError)       a part that needs an optional dependency
    └── NotEnoughMemory (MemoryError)    more users than the machine has room for
"""

import difflib
from collections.abc import Iterable
from typing import Any

_LONGEST = 200  # letters of a value in a message


class ClubCascadeError(Exception):
    """Base of every error that clubcascade raises on purpose."""


class InvalidArgument(ClubCascadeError, ValueError):
    """An argument is out of its range; the message names it, the range and the value got."""


class InvalidItems(InvalidArgument):
    """Items of a wrong shape, with values that are not finite, or with rows of norm above 1."""


class InvalidFeedback(InvalidArgument):
    """Feedback that cannot have come from the list that was shown."""


class InvalidConfig(InvalidArgument):
    """An experiment file with an unknown key, a missing key or a wrong value."""


class UnknownName(ClubCascadeError, LookupError):
    """No policy, environment or figure has that name."""


class UnknownUser(ClubCascadeError, LookupError):
    """The policy has never met that user."""


class ModelFileError(ClubCascadeError, ValueError):
    """The file is not a whole model, or of a format that this version cannot read."""


class DataMissing(ClubCascadeError, LookupError):
    """The data set is not on this machine; the message carries the one command to run."""


class InvalidData(ClubCascadeError, ValueError):
    """A data file that is empty, cut short, of another format, or without the columns needed."""


class DownloadFailed(ClubCascadeError, OSError):
    """A file could not be fetched whole; the same command continues where it stopped."""


class StoreError(ClubCascadeError, OSError):
    """The store cannot be used now."""


class StoreUnavailable(StoreError):
    """A write did not become durable: nothing was learned of it, and it may be tried again."""


class StoreLocked(StoreError):
    """A process has the store open that shares it with nobody."""


class StoreFenced(StoreError):
    """An older store is in the place of the one that this process has learned from."""


class StoreDamaged(StoreError):
    """A checksum does not fit, or a part of the store is missing."""


class MissingExtra(ClubCascadeError, ImportError):
    """An optional dependency is missing; the message says how to install it."""


class NotEnoughMemory(ClubCascadeError, MemoryError):
    """More users than the machine has room for; the message says how many, and the bytes."""


def brief(value: Any) -> str:
    """Return a value as messages show it: cut when long, and without fail.

    >>> brief("x" * 1000)[-3:], brief(10**5000)
    ('xx…', 'an int that cannot be printed')
    """
    try:
        text = repr(value)
    except Exception:  # numbers of thousands of digits, deep tuples, or a class of the caller
        kind = type(value).__name__
        return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} that cannot be printed"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> UnknownName:
    """Say that a name is unknown, and which known one is nearest.

    >>> print(unknown_name("policy", "club_cascad", ["club_cascade", "random"]))
    unknown policy 'club_cascad'; did you mean 'club_cascade'? Known: club_cascade, random
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    place = f" in {where}" if where else ""
    return UnknownName(f"unknown {kind} {name!r}{place}{hint} Known: {', '.join(names)}")
