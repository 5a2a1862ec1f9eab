"""Nothing of PostgreSQL is left behind by tests that were killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

KILLED = """
import os, signal
from pathlib import Path

def test_that_is_killed(cluster):
    cluster.database()
    pid = (cluster.folder / "data/postmaster.pid").read_text().split()[0]
    Path({told!r}).write_text(f"{{pid}} {{cluster.folder}}")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # one that has ended and that nobody has asked for is not alive
    return " Z " not in Path(f"/proc/{pid}/stat").read_text()


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "1", "--max-worker-restart=0"]])
def test_a_killed_run_leaves_no_server(tmp_path, workers):
    told = tmp_path / "told"
    (tmp_path / "test_killed.py").write_text(KILLED.format(told=str(told)))
    (tmp_path / "conftest.py").write_text("from tests.conftest import cluster")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        timeout=300,
    )
    assert done.returncode != 0
    pid, folder = told.read_text().split(" ")
    until = time.monotonic() + 60
    while alive(int(pid)) or Path(folder).exists():
        assert time.monotonic() < until, "the server lives on"
        time.sleep(0.05)
