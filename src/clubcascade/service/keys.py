"""Keys: bearer tokens that are stored hashed, each with a role and the models it is for."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from clubcascade.errors import InvalidArgument, StoreDamaged, UnknownName
from clubcascade.service.arguments import model_name
from clubcascade.validation import choice

ROLES = ("read", "write", "admin")
EVERY = "*"


@dataclass(frozen=True, slots=True)
class Key:
    """What a token may do: its role, and on which models (``*`` for all)."""

    id: str
    digest: str
    role: str
    models: tuple[str, ...]

    def may(self, role: str, model: str | None) -> bool:
        """Tell whether the key has a role on a model; None stands for the service as a whole."""
        enough = ROLES.index(self.role) >= ROLES.index(role)
        return enough and (EVERY in self.models or (model is not None and model in self.models))

    def sees(self, model: str) -> bool:
        """Tell whether the key is for a model."""
        return EVERY in self.models or model in self.models


def digest_of(token: str) -> str:
    """Return how a token is stored. It has 256 random bits: a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class KeyFile:
    """The keys of a service, in one file that only its owner can read.

    A changed file is noticed: keys can be added and removed while the service runs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._keys: dict[str, Key] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._keys, self._stamp = {}, None
            return
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp == self._stamp:
            return
        try:
            rows = json.loads(self.path.read_text(encoding="utf-8"))["keys"]
            keys = [Key(r["id"], r["digest"], r["role"], tuple(r["models"])) for r in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged(f"{self.path} must be a file of keys, got {error!r}") from None
        self._keys, self._stamp = {key.digest: key for key in keys}, stamp

    def all(self) -> list[Key]:
        """Return the keys; the tokens themselves are known to nobody but their holders."""
        return list(self._keys.values())

    def find(self, token: str) -> Key | None:
        """Return the key of a token."""
        return self._keys.get(digest_of(token))

    def add(self, role: str, models: Iterable[str] = (EVERY,)) -> str:
        """Make a key and return its token, which is not kept."""
        choice("role", role, ROLES)
        bound = tuple(name if name == EVERY else model_name(name) for name in models)
        if not bound:
            raise InvalidArgument("models must name at least one model, or '*', got none")
        token = f"cc_{secrets.token_urlsafe(32)}"
        with self._turn():
            self.refresh()
            key = Key(secrets.token_hex(4), digest_of(token), role, bound)
            self._write([*self._keys.values(), key])
        return token

    def remove(self, key_id: str) -> None:
        """Take a key away; what it does from now on is refused."""
        with self._turn():
            self.refresh()
            kept = [key for key in self._keys.values() if key.id != key_id]
            if len(kept) == len(self._keys):
                known = ", ".join(sorted(key.id for key in self._keys.values()))
                raise UnknownName(f"unknown key {key_id!r}. Known: {known or 'none'}")
            self._write(kept)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Change the file in turn with other threads and processes."""
        if not self.path.parent.exists():
            self.path.parent.mkdir(parents=True, mode=0o700)
        with self._lock:
            handle = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield
            finally:
                os.close(handle)

    def _write(self, keys: list[Key]) -> None:
        handle, aside = tempfile.mkstemp(dir=self.path.parent, prefix=".keys.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({"keys": [asdict(key) for key in keys]}, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, self.path)
        self.refresh()
