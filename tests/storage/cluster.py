"""A PostgreSQL server of one's own: made, started on a free socket, and gone after the tests."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg


def _tool(name):
    path = [*sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True), os.environ["PATH"]]
    found = shutil.which(name, path=os.pathsep.join(path))
    assert found, f"these tests need PostgreSQL's {name}: install Debian's package 'postgresql'"
    return found


WATCH = """
import os, pathlib, shutil, signal, sys, time
sys.stdin.read()  # ends with the process that holds the other end, whatever ended it
folder = pathlib.Path(sys.argv[1])
for _ in range(3):  # a server may just be starting
    try:
        os.kill(int((folder / "data/postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    except (OSError, ValueError, IndexError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(".out").unlink(missing_ok=True)
    time.sleep(0.5)
"""
"""What a process of its own does: it waits for the end of the tests, and ends the server."""


class Cluster:
    """A server without network: it listens on a socket in its own folder.

    It ends with the process that made it, also if that is killed.
    """

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cc-pg-"))
        self._watch = subprocess.Popen(
            [sys.executable, "-c", WATCH, self.folder],
            stdin=subprocess.PIPE,
            start_new_session=True,  # what ends a group of processes does not end this one
        )
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:  # PostgreSQL does not run as root
            shutil.chown(self.folder, self.user)
        self._run(_tool("initdb"), "-D", "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "-N")
        options = f"-k {self.folder} -h '' -c shared_buffers=16MB -c max_connections=40"
        self._run(
            _tool("pg_ctl"), "-D", "data", "-w", "-t", "240", "-l", "log", "-o", options, "start"
        )
        self._databases = 0

    def _run(self, *command):
        path = self.folder.with_suffix(".out")
        with path.open("ab") as said:
            done = subprocess.run(
                command,
                cwd=self.folder,
                user=self.user if os.getuid() == 0 else None,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
                timeout=300,
            )
        assert done.returncode == 0, path.read_text()

    def database(self):
        """Make an empty database and return its URL."""
        self._databases += 1
        name = f"test{self._databases}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def _url(self, name):
        return f"postgresql://tester@/{name}?host={self.folder}"

    def stop(self, mode="immediate"):
        self._run(_tool("pg_ctl"), "-D", "data", "-m", mode, "-w", "-t", "240", "stop")

    def start(self):
        options = f"-k {self.folder} -h ''"
        self._run(
            _tool("pg_ctl"), "-D", "data", "-w", "-t", "240", "-l", "log", "-o", options, "start"
        )

    def kill(self):
        """End all its processes without a word, as a power cut does."""
        os.kill(self._pids()[0], signal.SIGSTOP)  # from now on it makes no other
        pids = self._pids()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            time.sleep(0.01)

    def _pids(self):
        main = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children")
        return [main, *map(int, children.read_text().split())]

    @property
    def runs(self):
        """Whether it is there."""
        return (self.folder / "data/postmaster.pid").exists()

    @contextmanager
    def stopped(self):
        """Let all its processes stand still for a while, as a machine that hangs."""
        pids = self._pids()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def remove(self):
        self.stop()
        self._watch.stdin.close()
        self._watch.wait()
