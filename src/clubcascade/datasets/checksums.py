"""Checksums of files, in pieces."""

from __future__ import annotations

import hashlib
from pathlib import Path

_PIECE = 1 << 20


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return _digest(path, "sha256")


def md5(path: Path) -> str:
    """Return the MD5 of a file, in hexadecimal: what GroupLens publishes beside its files."""
    return _digest(path, "md5")


def _digest(path: Path, kind: str) -> str:
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
