"""Callers: wrk on the other core, what it measured, and what the server computed meanwhile."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

POST = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local bodies = {}
for line in io.lines("%s") do bodies[#bodies + 1] = line end
local at = 0
function request()
  at = at + 1
  if at > #bodies then at = 1 end
  return wrk.format(nil, nil, nil, bodies[at])
end
"""


def cpu(pid: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(
    url: str, bodies: list[str], callers: int, seconds: int, server: subprocess.Popen[bytes]
) -> dict[str, str]:
    """Send bodies for a while; return what wrk measured, and what the server computed."""
    before = cpu(server.pid)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "bodies", Path(folder) / "post.lua"
        data.write_text("\n".join(bodies))
        script.write_text(POST % data)
        done = subprocess.run(
            f"taskset -c 1 wrk -t1 -c{callers} -d{seconds}s --latency -s {script} {url}",
            shell=True,
            capture_output=True,
            text=True,
            check=True,
        )
    found = {"rate": re.search(r"Requests/sec:\s+(\S+)", done.stdout)[1]}  # type: ignore[index]
    for name in ("50%", "99%"):
        found[name] = re.search(rf"{name}\s+(\d\S+)", done.stdout)[1]  # type: ignore[index]
    total = int(re.search(r"(\d+) requests in", done.stdout)[1])  # type: ignore[index]
    found["cpu"] = f"{(cpu(server.pid) - before) / max(total, 1) * 1e6:.0f}"
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    found["bad"] = bad[1] if bad else "0"
    return found
