"""Compiled functions over arrays. No validation, no files, no random-number objects here."""

from clubcascade.kernels import compile_notice

__all__ = ["compile_notice"]
