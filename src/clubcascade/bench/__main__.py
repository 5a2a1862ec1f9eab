"""A process that makes one measurement; see :mod:`clubcascade.bench.child`."""

from __future__ import annotations

import sys

from clubcascade.bench.child import serve

if __name__ == "__main__":
    print(serve(sys.argv[1], sys.stdin.read()))
