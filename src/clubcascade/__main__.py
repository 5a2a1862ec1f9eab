"""``python -m clubcascade`` is the command ``clubcascade``."""

from __future__ import annotations

from clubcascade.cli import main

if __name__ == "__main__":
    main()
