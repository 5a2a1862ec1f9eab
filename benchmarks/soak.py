"""An hour of load on several servers: memory and files stay flat, and the log moves to the archive.

    python -m benchmarks.soak --minutes 60 --servers 3 --rate 150 --wait 300

Servers share one SQLite folder, or with ``--postgres`` one PostgreSQL. Prints every minute:
requests, CPU of all servers, resident memory and open files of the largest, size of the database,
events in it and in the archive, size of the archive and of the snapshots. At the end all servers
must tell one digest, that of the whole log, with all that was acknowledged.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.servers import Callers, D, Server, agree, check
from clubcascade.errors import StoreUnavailable
from clubcascade.service import Recommender
from clubcascade.storage import open_store
from tests.storage.cluster import Cluster

MIB = 2**20


def resident(server: Server) -> float:
    """Return the memory of a server in MiB."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def files(server: Server) -> int:
    """Return how many files a server has open."""
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def sizes(where: str, archive: Path) -> list[str]:
    """Return the sizes of database, log, archive and snapshots."""
    try:
        opened = open_store(where, archive=archive)
    except StoreUnavailable:  # on a busy machine the servers may keep it from us for a while
        return ["-"] * 5
    with closing(opened) as store:
        first = store._first_row()  # type: ignore[attr-defined]
        rows, moved = store.head() - first + 1, first - 1
        if store.remote:
            base = store.ask("SELECT pg_database_size(current_database())")[0][0]  # type: ignore[attr-defined]
            query = "SELECT coalesce(sum(length(payload)), 0) FROM clubcascade_snapshots"
            kept = int(store.ask(query)[0][0])  # type: ignore[attr-defined]
        else:
            base = sum(f.stat().st_size for f in Path(where).glob("store.db*"))
            kept = sum(f.stat().st_size for f in Path(where).glob("snapshots/*"))
    old = sum(f.stat().st_size for f in archive.glob("*"))
    return [f"{base / MIB:.0f}", f"{rows}", f"{moved}", f"{old / MIB:.0f}", f"{kept / MIB:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=60, help="seconds between two lines")
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0, help="requests a second; 0: any number")
    parser.add_argument("--snapshot-every", type=int, default=20_000)
    parser.add_argument("--wait", type=float, default=120)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    cluster = Cluster() if options.postgres else None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        where = cluster.database() if cluster else str(home / "store")
        archive = home / "archive"
        Recommender(where, n_features=D, archive=archive).close()
        more = ["--archive", str(archive), "--wait", str(options.wait)]
        more += ["--snapshot-every", str(options.snapshot_every)]
        servers = [Server(where, home, *more) for _ in range(options.servers)]
        try:
            for server in servers:
                server.wait()
            pause = 2.3 * options.callers / options.rate if options.rate else 0.0
            callers = Callers([s.url for s in servers], options.callers, 1, pause)
            start = time.monotonic()
            print(
                "| minute | requests | servers' CPU s | resident MiB | open files | database MiB "
                "| events in it | in the archive | archive MiB | snapshots MiB |\n"
                + "|---" * 10
                + "|"
            )
            while (left := start + 60 * options.minutes - time.monotonic()) > 0:
                time.sleep(min(options.every, left))
                row = [f"{(time.monotonic() - start) / 60:.1f}", f"{len(callers.delays)}"]
                row += [f"{sum(s.cpu() for s in servers):.0f}"]
                row += [f"{max(map(resident, servers)):.0f}", f"{max(map(files, servers))}"]
                print(f"| {' | '.join(row + sizes(where, archive))} |", flush=True)
            callers.join()
            assert not callers.errors, callers.errors[:3]
            print(check(where, callers.answers, agree(servers), archive))
        finally:
            for server in servers:
                server.kill()
            if cluster:
                cluster.remove()


if __name__ == "__main__":
    main()
