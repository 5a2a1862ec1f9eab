"""The command ``clubcascade``. Without the optional dependencies it says how to get them."""

import sys
from importlib import import_module

from clubcascade.experiment.lazy_imports import EXTRA


def main() -> None:
    """Run the command line; what ``clubcascade`` and ``python -m clubcascade`` call."""
    try:
        app = import_module("clubcascade.cli.app")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("clubcascade"):
            raise
        print(f"clubcascade: the command line needs {error.name}: {EXTRA}", file=sys.stderr)
        sys.exit(2)
    app.app(prog_name="clubcascade")
