"""Checksums of files, in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

_PIECE = 1 << 20


def sha256(path: Path, moved: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file, in hexadecimal; ``moved`` is told the bytes of each piece."""
    return _digest(path, "sha256", moved)


def md5(path: Path, moved: Callable[[int], None] | None = None) -> str:
    """Return the MD5 of a file, in hexadecimal: what GroupLens publishes beside its files."""
    return _digest(path, "md5", moved)


def _digest(path: Path, kind: str, moved: Callable[[int], None] | None) -> str:
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            if moved is not None:
                moved(len(piece))
    return digest.hexdigest()
