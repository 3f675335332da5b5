# bench/stores.py - new stores for measurements, and taking turns; for the programs of bench/ and the folders below it.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command, **options):
    """What a command prints; an error of it is ours."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode:
        sys.exit(f"compare: {' '.join(command)} failed")
    return done.stdout


def take_turns(rounds, sides, measure):
    """For each side the figures of its rounds."""
    found = {side: [] for side in sides}
    for number in range(rounds):
        order = list(sides) if number % 2 == 0 else list(sides)[::-1]
        for side in order:
            found[side].append(measure(side))
    return found


def python_with(folder, wanted):
    """A Python whose virtual environment in `folder` has the packages of a requirements file."""
    stamp, program = os.path.join(folder, "installed"), os.path.join(folder, "bin/python")
    with open(wanted, encoding="utf-8") as file:
        text = file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == text:
                return program
    run(sys.executable, "-m", "venv", folder)
    run(program, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", wanted)
    shutil.copy(wanted, stamp)
    return program


class Stores:
    """A new store for each measurement: a file, or a database of a private server with fsync on.  Both are below $TMPDIR, if
    it is set: TMPDIR=/dev/shm leaves out the disk, where other programs keep it busy."""

    def __init__(self):
        wanted = os.environ.get("TMPDIR")
        self.folder = tempfile.mkdtemp(prefix="cairn-bench-", dir=wanted or "/var/tmp")
        self.server = os.path.join(tempfile.mkdtemp(prefix="cairn-pg-", dir=wanted or "/tmp"), "pg")
        self.postgres = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.postgres:
            self.manage("stop")
        os.rmdir(os.path.dirname(self.server))
        shutil.rmtree(self.folder)

    def manage(self, verb):
        env = {**os.environ, "CAIRN_PRIVATE_NO_PGBOUNCER": "1", "CAIRN_PRIVATE_FSYNC": "on"}
        return run(os.path.join(ROOT, "scripts/private-postgres"), verb, self.server, env=env)

    @contextlib.contextmanager
    def make(self, kind):
        """The URL of a store without tables."""
        name = "bench_" + uuid.uuid4().hex[:12]
        if kind == "sqlite":
            yield f"sqlite:{self.folder}/{name}.db"
            return
        if not self.postgres:
            self.postgres = self.manage("start").splitlines()[0].partition("=")[2]
        self.ask(self.postgres, f"CREATE DATABASE {name}")
        yield f"{self.postgres.rpartition('/')[0]}/{name}"
        self.ask(self.postgres, f"DROP DATABASE {name} WITH (FORCE)")

    @staticmethod
    def ask(url, statement):
        return run("psql", "-XAtq", "-d", url, "-c", statement).strip()

    def cpu_of_server(self):
        """Seconds of all processes of the private server, those that have ended included; 0 if there is none."""
        if not self.postgres:
            return 0
        with open(os.path.join(self.server, "data/postmaster.pid"), encoding="ascii") as file:
            first = file.readline().strip()
        ticks = 0
        for pid in (first, *run("pgrep", "-P", first).split()):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))    # its own and those of its ended children
        return ticks / os.sysconf("SC_CLK_TCK")

    def wal(self, url):
        """How many bytes the server has logged."""
        return int(self.ask(url, "SELECT pg_current_wal_lsn() - '0/0'"))
