"""Open a page in Chromium, run a script in it, and read the page that is then there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # the tests may run as root, as in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)
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


ANSWER = """<script>
function answer(value) {
  if (parent !== window) return parent.postMessage(value, "*");
  const note = document.createElement("pre");
  note.id = "answer";
  note.textContent = encodeURIComponent(JSON.stringify(value));
  document.body.append(note);
}
addEventListener("error", (event) => answer({ error: event.message }));
</script>"""


FRAME = """<!DOCTYPE html><body style="margin: 0">
<iframe src="asked.html" style="border: 0" width="{width}" height="{height}"></iframe>
{answer}<script>addEventListener("message", (event) => answer(event.data));</script>"""

NARROWEST = 500
"""No window of Chromium is narrower; narrower pages are shown in a frame."""


def ask(page: Path, script: str, width: int = 1280, height: int = 900) -> Any:
    """Run a script at the end of a copy of the page; return what it gave to ``answer(...)``."""
    text = page.read_text(encoding="utf-8")
    assert text.count("<main>") == text.count("</body>") == 1
    text = text.replace("<main>", f"{ANSWER}<main>")
    copy = page.with_name("asked.html")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    if width < NARROWEST:
        copy = page.with_name("frame.html")
        copy.write_text(FRAME.format(width=width, height=height, answer=ANSWER))
    profile = page.parent / "profile"
    command = [
        chromium(),
        *FLAGS,
        f"--user-data-dir={profile}",
        f"--window-size={max(width, NARROWEST)},{height}",
        "--dump-dom",
        copy.resolve().as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    start = done.stdout.rfind('<pre id="answer">')
    assert start >= 0, f"no answer: {done.stderr[-2000:]}"
    encoded = done.stdout[start + len('<pre id="answer">') :].partition("</pre>")[0]
    return json.loads(unquote(encoded))
