"""kill -9 at random moments: a few rounds here, more with the scripts themselves."""

import argparse
import json
import subprocess
import sys

from benchmarks.servers import kill
from tests.docs.pages import ROOT


def test_nothing_acknowledged_is_lost_or_learned_twice(tmp_path):
    script = [sys.executable, ROOT / "benchmarks" / "crash.py", "--rounds", "10", "--dir", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done: 10 kills" in done.stdout
    acknowledged = int(done.stdout.split("10 kills, ")[1].split()[0])
    assert acknowledged > 100


def test_three_servers_that_are_killed_lose_nothing(capsys):
    """Two kills of servers, one of PostgreSQL: all that was acknowledged is learned, once."""
    kill(argparse.Namespace(rounds=3, servers=3, callers=8, database=0.3, seed=1, pause=0.05))
    told = json.loads(capsys.readouterr().out)
    assert (told["server"], told["PostgreSQL"]) == (2, 1)
    assert told["acknowledged"] > 50
