"""kill -9 at random moments with 64 clients: ten rounds here, more with the script itself."""

import subprocess
import sys

from tests.docs.pages import ROOT


def test_nothing_acknowledged_is_lost_or_learned_twice(tmp_path):
    script = [sys.executable, ROOT / "benchmarks" / "crash.py", "--rounds", "10", "--dir", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done: 10 kills" in done.stdout
    acknowledged = int(done.stdout.split("10 kills, ")[1].split()[0])
    assert acknowledged > 100
