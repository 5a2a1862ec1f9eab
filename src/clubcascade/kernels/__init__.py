"""Compiled functions over arrays. No validation, no files, no random-number objects here."""
