"""Nothing public is missing in the pages, and nothing in the pages is missing in the code."""

import importlib
import inspect
import re
import runpy
import tomllib

import pytest
import typer
import yaml

import clubcascade
from clubcascade import checks, click, datasets, environments, errors, theory
from clubcascade.cli.app import app
from clubcascade.policies import POLICIES
from tests.docs.pages import DOCS, PAGES, ROOT, name_of, read

COMPLETE = runpy.run_path(str(DOCS / "policies_page.py"))["complete"]
REFERENCE = "\n".join(COMPLETE(read(page)) for page in sorted((DOCS / "reference").glob("*.md")))


def commands(group, before=""):
    """All commands by name, those of groups with the group's name before."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")


COMMANDS = dict(commands(typer.main.get_command(app)))
TABLE = read(DOCS / "explain" / "paper-to-code.md")


def resolve(path):
    """The object of a dotted path; raises if there is none."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


# -- the code is in the pages ---------------------------------------------------------------------

OWN = {name: kind for name, kind in POLICIES.items() if kind.__module__.startswith("clubcascade.")}


@pytest.mark.parametrize("name", OWN)
def test_every_policy_is_in_the_reference(name):
    kind = OWN[name]
    assert re.search(rf"^::: clubcascade\.(policies\.{name}\.)?{kind.__name__}$", REFERENCE, re.M)
    assert re.search(
        rf"^\| \[`{kind.__name__}`\]\[clubcascade\.\S+\] \| `{name}` \| ", REFERENCE, re.M
    )


@pytest.mark.parametrize("kind", [k for k in OWN.values() if k.__name__ in clubcascade.__all__])
def test_it_is_said_when_to_take_a_policy(kind):
    table = REFERENCE.partition("## Which policy when\n")[2].partition("\nEvery policy has")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    assert any(f"`{kind.__name__}`" in row.split(" | ")[1] for row in rows)


ERRORS = [
    name
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.ClubCascadeError)
]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_in_the_reference(name):
    assert f"| `{name}` |" in read(DOCS / "reference" / "errors.md")


def options():
    whole = typer.main.get_command(app)
    for name, command in [("", whole), *COMMANDS.items()]:
        for parameter in command.params:
            for option in parameter.opts:
                yield f"clubcascade {name}".strip(), option


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_reference(command):
    assert f"## clubcascade {command}\n" in read(DOCS / "reference" / "command-line.md")


@pytest.mark.parametrize(("command", "option"), list(options()))
def test_every_option_is_in_the_reference(command, option):
    page = read(DOCS / "reference" / "command-line.md")
    sections = dict(re.findall(r"^##? (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    title = "Command line" if command == "clubcascade" else command
    assert f"`{option}`" in sections[title]


@pytest.mark.parametrize(
    "name",
    [
        *clubcascade.__all__,
        *environments.__all__,
        *datasets.__all__,
        *click.__all__,
        *checks.__all__,
        *(f"environments.{name}" for name in environments.ENVIRONMENTS),
    ],
)
def test_every_public_name_is_in_the_reference(name):
    assert re.search(rf"\b{name.rpartition('.')[2]}\b", REFERENCE)


def test_theory_is_in_the_table():
    own = [name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))]
    missing = [name for name in own if f"`clubcascade.theory.{name}`" not in TABLE]
    assert not missing


# -- the pages are in the code --------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_name_in_a_page_exists(page):
    text = read(page)
    names = re.findall(r"`(clubcascade(?:\.\w+)+)`", text)
    names += re.findall(r"^::: (\S+)", text, re.MULTILINE)
    for name in names:
        resolve(name)


PACKAGES = "|".join(path.parent.name for path in ROOT.glob("src/clubcascade/*/__init__.py"))
TEACHING = [
    page
    for folder in ("tutorial", "howto", "explain")
    for page in sorted((DOCS / folder).glob("*.md"))
    if page.name != "release.md"
]


@pytest.mark.parametrize("page", TEACHING, ids=name_of)
def test_every_page_that_teaches_has_a_picture_with_a_description(page):
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", read(page))
    assert pictures
    for description, file in pictures:
        assert description and (page.parent / file).exists(), file


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_in_a_page_exists(page):
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    files = re.findall(r"`((?:src|tests|scripts|docs)/[\w./-]+)`", text)
    files += [f"src/clubcascade/{f}" for f in re.findall(rf"`((?:{PACKAGES})/[\w/.]*)`", text)]
    for file in files:
        assert (ROOT / file).exists(), file


@pytest.mark.parametrize("page", PAGES[:2], ids=name_of)
def test_every_link_of_a_page_outside_the_site_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page)):
        assert (ROOT / target).exists(), target


def rows(text):
    return [line for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("line", range(1, 12))
def test_every_line_of_algorithm_1_is_in_the_table(line):
    assert sum(row.startswith(f"| line {line} |") for row in rows(TABLE)) == 1


@pytest.mark.parametrize(
    "name",
    [
        *(f"Equation ({number})" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 22, 23)),
        *("Equations (10) to (12)", "Equations (15) and (16)", "Equations (17) and (18)"),
        *("Equations (19) to (21)", "Theorem 2", "Corollary 3", "Theorem 4", "T_0(delta)"),
        *(f"Lemma {number}," for number in (1, 5, 6, 7, 8, 9, 10)),
        *("Figure 1", "Figures 2 and 3", "Figure 4", "Figure 5", "u=40, L=200, d=20", "K=4"),
    ],
)
def test_every_numbered_thing_of_the_paper_is_in_the_table(name):
    assert any(name in row for row in rows(TABLE))


def test_the_architecture_is_drawn_as_it_is_built():
    project = tomllib.loads(read(ROOT / "pyproject.toml"))
    (layers,) = [c["layers"] for c in project["tool"]["importlinter"]["contracts"] if "layers" in c]
    assert "\n".join(layers) in read(DOCS / "explain" / "architecture.md")
    drawn = re.findall(r">(\w+)</text>", read(DOCS / "img" / "architecture.svg"))
    assert [name for layer in layers for name in layer.split(" | ")] == drawn


def test_version_is_the_same_everywhere():
    version = clubcascade.__version__
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert citation["version"] == version
    assert f"## [{version}]" in read(ROOT / "CHANGELOG.md")


def test_no_page_is_left_out_of_the_site():
    class Loader(yaml.SafeLoader):
        """Reads the tags of MkDocs as plain text."""

    Loader.add_constructor("!relative", lambda loader, node: node.value)
    settings = yaml.load(read(ROOT / "mkdocs.yml"), Loader)

    def pages(part):
        if isinstance(part, str):
            return [part]
        parts = part.values() if isinstance(part, dict) else part
        return [page for each in parts for page in pages(each)]

    assert sorted(pages(settings["nav"])) == sorted(
        page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")
    )
