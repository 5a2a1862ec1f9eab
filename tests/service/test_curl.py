"""The ``curl`` examples of the documentation run, and answer what the page says."""

import doctest
import json
import os
import re
import subprocess

import clubcascade as cc
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


def play(folder, page, **options):
    """Run the commands of a page, compare the answers; return how many there were of both."""
    token = KeyFile(folder / "keys.json").add("admin")
    blocks = [*fences(page, "bash"), *fences(page, "json")]
    blocks.sort(key=lambda block: block[1])
    commands = {code for _, _, code in fences(page, "bash")}
    with serving(folder, keys=True, **options) as (client, _):
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
    return ran, answers


def test_the_examples(tmp_path):
    ran, answers = play(tmp_path, PAGE, n_features=2)
    assert ran >= 17 and answers >= 4


def test_a_trained_model(tmp_path, monkeypatch):
    """The page on training ends with the service, on the tables that it makes."""
    monkeypatch.chdir(tmp_path)
    page = read(DOCS / "howto" / "train-on-your-clicks.md")
    tables = next(code for _, _, code in fences(page) if "items.csv" in code)
    exec("".join(one.source for one in doctest.DocTestParser().get_examples(tables)), {})
    model = cc.train("clicks.csv", "items.csv", als=False, judge=False, n_features=5)
    model.save("shop.cc")
    ran, _ = play(tmp_path, page, n_features=None, trained="shop.cc")
    assert ran >= 6


def test_the_examples_of_an_experiment(tmp_path):
    token = KeyFile(tmp_path / "keys.json").add("admin")
    page = read(DOCS / "howto" / "is-it-better.md")
    with serving(tmp_path, keys=True, n_features=2) as (client, _):
        env = os.environ | {"URL": str(client.base_url).rstrip("/"), "KEY": token}
        said = ""
        for _, _, code in fences(page, "bash"):
            command = ["bash", "-euc", code]
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0 and "error" not in done.stdout, done
            said += done.stdout
    assert '"decision_id"' in said
    assert "too few users or clicks to compare learned with popular; go on" in said
