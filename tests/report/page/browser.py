"""Chromium for the tests of the page."""

from __future__ import annotations

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "this test opens the report in a browser and found none: install Chromium (Debian and Ubuntu: "
    "apt-get install chromium), or name one in the environment variable CHROMIUM"
)


def chromium() -> str:
    """The browser to use, or a failed test that says how to get one."""
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(MISSING if not named else f"{MISSING}; CHROMIUM is {named!r}")
    return found
