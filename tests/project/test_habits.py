"""The files for contributors: they can be read, and what they name exists."""

import json
import os
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOME = "https://github.com/clubcascade/clubcascade"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FORGE = [str(path.relative_to(ROOT)) for path in ROOT.glob(".github/**/*.yml")]


def load(name):
    return yaml.safe_load((ROOT / name).read_text())


@pytest.mark.parametrize("name", [".pre-commit-config.yaml", *FORGE])
def test_yaml_is_a_mapping(name):
    assert isinstance(load(name), dict)


def test_ci_runs_our_scripts_on_every_python_with_actions_of_a_version():
    (job,) = load(".github/workflows/ci.yml")["jobs"].values()
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert "matrix.python" in job["container"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands
    for command in commands:
        assert re.fullmatch(r"(\.ci/run|scripts/\w+)", command), command
        assert os.access(ROOT / command, os.X_OK)
    for step in job["steps"]:
        assert "run" in step or re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", step["uses"])


def test_the_oldest_python_of_ci_is_the_one_required():
    (job,) = load(".github/workflows/ci.yml")["jobs"].values()
    assert PROJECT["requires-python"] == f">={job['strategy']['matrix']['python'][0]}"


def test_the_hooks_are_the_tools_of_scripts_check():
    (local,) = load(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    check = (ROOT / "scripts" / "check").read_text()
    for hook in local["hooks"]:
        tool = hook["entry"].split()[0]
        assert hook["language"] == "system" and shutil.which(tool), tool
        assert tool in check
    assert {hook["entry"].split()[0] for hook in local["hooks"]} == {"ruff", "mypy", "lint-imports"}


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_issue_forms_ask_for_something(name):
    form = load(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"] and form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_the_addresses_are_those_of_one_repository():
    assert PROJECT["urls"]["Repository"] == HOME
    for name in ("SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"):
        found = re.findall(r"https://github\.com/[\w-]+/[\w-]+", (ROOT / name).read_text())
        assert found and set(found) == {HOME}


def test_scripts_and_pages_of_the_release_checklist_exist():
    text = (ROOT / "docs" / "howto" / "release.md").read_text()
    for path in re.findall(r"`(scripts/\w+|\.ci/run|[A-Z]\w+\.\w+|pyproject\.toml)`", text):
        assert (ROOT / path).exists(), path


# -- the image ------------------------------------------------------------------------------------


def instructions():
    """The instructions of the Dockerfile, stage by stage: (name, rest)."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines()]
    stages = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        name, _, rest = line.partition(" ")
        assert name in {
            "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK",
            "ENTRYPOINT", "CMD",
        }, name  # fmt: skip
        if name == "FROM":
            stages.append([])
        stages[-1].append((name, rest.strip()))
    return stages


def test_the_image_is_built_in_stages_from_named_versions():
    stages = instructions()
    assert len(stages) == 2
    for stage in stages:
        assert re.match(r"python:\d+\.\d+-slim-\w+( AS \w+)?$", stage[0][1])


def test_what_is_copied_exists_and_is_not_ignored():
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    sources = [
        source
        for name, rest in instructions()[0]
        if name == "COPY"
        for source in shlex.split(rest)[:-1]
    ]
    assert set(sources) == kept
    for source in sources:
        assert (ROOT / source).exists()


def test_the_extras_that_are_installed_exist():
    run = next(rest for name, rest in instructions()[0] if name == "RUN")
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', run)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_service_runs_without_root_and_is_watched():
    final = instructions()[-1]
    names = [name for name, _ in final]
    (user,) = [rest for name, rest in final if name == "USER"]
    assert user not in ("root", "0")
    assert names.index("USER") > max(i for i, name in enumerate(names) if name == "RUN")
    health = dict(final)["HEALTHCHECK"]
    command = json.loads(health[health.index("CMD") + 3 :])
    assert command[0] == "python"
    compile(command[2], "healthcheck", "exec")
    port = dict(final)["EXPOSE"]
    assert f":{port}/healthz" in command[2]
    serve = json.loads(dict(final)["CMD"])
    assert json.loads(dict(final)["ENTRYPOINT"]) == list(PROJECT["scripts"])
    assert serve[serve.index("--port") + 1] == port
