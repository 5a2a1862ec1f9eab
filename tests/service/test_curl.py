"""The ``curl`` examples of the documentation run, and answer what the page says."""

import json
import os
import re
import subprocess

from clubcascade.service.keys import KeyFile
from tests.docs.pages import DOCS, fences, read
from tests.service.web import serving

PAGE = read(DOCS / "howto" / "run-the-service.md")


def alike(found, promised):
    """Equal but for the ids of decisions."""
    if isinstance(promised, dict):
        return found.keys() == promised.keys() and all(
            key == "decision_id" or alike(found[key], value) for key, value in promised.items()
        )
    if isinstance(promised, list):
        return len(found) == len(promised) and all(map(alike, found, promised))
    return found == promised


def test_the_examples(tmp_path):
    token = KeyFile(tmp_path / "keys.json").add("admin")
    blocks = [*fences(PAGE, "bash"), *fences(PAGE, "json")]
    blocks.sort(key=lambda block: block[1])
    commands = {code for _, _, code in fences(PAGE, "bash")}
    with serving(tmp_path, keys=True, n_features=2) as (client, _):
        env = os.environ | {"URL": str(client.base_url).rstrip("/"), "KEY": token}
        answers = ran = 0
        for _, line, code in blocks:
            if code in commands:
                done = subprocess.run(
                    ["bash", "-euc", code], env=env, capture_output=True, text=True, timeout=60
                )
                assert done.returncode == 0, done.stderr
                assert "error" not in done.stdout, (line, done.stdout)
                last = done.stdout
                if found := re.search(r'"decision_id":"([^"]+)","items"', last):
                    env["DECISION"] = found[1]
                ran += code.count("curl")
            elif not code.startswith('{"error"'):
                assert alike(json.loads(last), json.loads(code)), (line, last)
                answers += 1
    assert ran >= 15 and answers >= 4
