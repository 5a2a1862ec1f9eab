"""Compiled functions over arrays. No validation, no files, no random-number objects here."""

from clubcascade.kernels import notice

__all__ = ["notice"]
