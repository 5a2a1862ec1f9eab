"""Experiment files as they are written: which there are, what they extend, what they are called.

Nothing here knows policies or environments, so that a list of the files is there at once.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Any

from clubcascade.errors import InvalidConfig, brief, unknown_name

MOST_EXTENDED = 10
"""How many files may extend one another."""
PLACEHOLDER = "{data}"
"""What stands for the name of a panel's data set in titles."""


def shipped() -> dict[str, Traversable]:
    """Return the experiment files that come with the package, by name."""
    folder = resources.files("clubcascade.experiment") / "figures"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {f.name.removesuffix(".toml"): f for f in files if f.name.endswith(".toml")}


def headings() -> dict[str, tuple[int | None, str]]:
    """Return the number in the paper and the title of the shipped files, in the paper's order.

    >>> headings()["synthetic"]
    (1, 'Synthetic data, u=40, L=200, K=4, d=20')
    """
    found = {}
    for name, file in shipped().items():
        content = read_content(file)
        panels = (merged(content.get("all_panels", {}), panel) for panel in content["panels"])
        clicks = [panel.get("parameters", {}).get("clicks") for panel in panels]
        found[name] = content.get("figure"), titled(content["title"], clicks)
    return dict(
        sorted(found.items(), key=lambda item: (item[1][0] is None, item[1][0] or 0, item[0]))
    )


def file_of(source: str | os.PathLike[str] | Traversable) -> Traversable:
    """Return the file at a path, or the shipped one of a name."""
    if isinstance(source, Traversable) and not isinstance(source, str):
        return source
    known = shipped()
    name = os.fspath(source)
    if name in known:
        return known[name]
    if isinstance(source, str) and not name.endswith(".toml"):
        raise unknown_name("experiment", name, known)
    return Path(name)


def read_content(file: Traversable, before: Sequence[str] = ()) -> dict[str, Any]:
    """Return the tables of a file, with those of the file that it extends."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"not a TOML file: {error}") from None
    name = content.pop("extends", None)
    if name is None:
        return content
    wanted = f"extends must be another file, by name or path, got {brief(name)}"
    try:
        base = _base(file, name)
        found = base.is_file()
    except InvalidConfig:
        raise
    except (OSError, TypeError, ValueError):
        raise InvalidConfig(wanted) from None
    if not found or str(base) in (before := [*before, str(file)]):
        raise InvalidConfig(wanted)
    if len(before) > MOST_EXTENDED:
        raise InvalidConfig(f"extends must end after {MOST_EXTENDED} files, got {before[0]!r}")
    try:
        inherited = read_content(base, before)
    except InvalidConfig as error:
        raise InvalidConfig(f"extends {base.name}: {error}") from None
    inherited.pop("figure", None)
    return dict(merged(inherited, content))


def _base(file: Traversable, name: Any) -> Traversable:
    """Return the file that another one names: a shipped one, or one by its path from there."""
    if not isinstance(name, str):
        raise TypeError(name)
    if isinstance(file, Path) and name.endswith(".toml"):
        return (file.parent / name).resolve()
    if name not in shipped():
        raise InvalidConfig(f"extends: {unknown_name('experiment', name, shipped())}")
    return shipped()[name]


def merged(base: Any, own: Any) -> Any:
    """Return a value instead of another one; of two tables, all keys of both."""
    if not isinstance(base, Mapping) or not isinstance(own, Mapping):
        return own
    changed = {key: merged(base.get(key), value) for key, value in own.items()}
    return {**base, **changed}


def name_of(clicks: str) -> str:
    """Return what people call a data set: its name, or that of its file.

    >>> name_of("yelp"), name_of("pools/small.npz")
    ('yelp', 'small')
    """
    return PurePath(clicks).stem if clicks.lower().endswith(".npz") else clicks


def titled(title: str, clicks: Iterable[Any]) -> str:
    """Put the names of data sets into a title.

    >>> titled("Clicks on {data}", ["yelp", None, "yelp", "pools/small.npz"])
    'Clicks on yelp and small'
    """
    names = dict.fromkeys(name_of(name) for name in clicks if isinstance(name, str))
    return title.replace(PLACEHOLDER, " and ".join(names)) if names else title
