#!/usr/bin/env python3
# tests/sdk/test_quickstart.py - docs/guides/quickstart.md, followed as it is written.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_quickstart.py BUILD [python] [go] [c] [curl] [functions]

BUILD is a build folder of this tree.  Each part is followed in a folder of its own: its files are
written, its commands are executed, the program is killed with SIGKILL after its first step and
started again.  The lines that the guide promises must come, and the card must not be charged
twice.  `functions` are the first five minutes of docs/guides/functions.md.  The output is TAP.
"""
import glob
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "kill"))
from scene import free_port     # pylint: disable=wrong-import-position

ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
GUIDE = os.path.join(ROOT, "docs", "guides", "quickstart.md")
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```", re.M | re.S)
FIRST_STEP = "charge the card for a book"


def read_part(name):
    """The files, the commands and the promised lines of one part of the guide."""
    with open(GUIDE, encoding="utf-8") as file:
        text = file.read()
    part = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S | re.I).group(1)
    files, commands, lines = {}, [], []
    for kind, path, body in BLOCK.findall(part):
        if path:
            files[path] = body
        elif kind == "sh":
            commands.append(body)
        elif kind == "text":
            lines += body.splitlines()
    return files, commands, lines


class Folder:
    """A place that looks like a clone in which `./run --build` was called."""

    def __init__(self, build):
        self.path = tempfile.mkdtemp(prefix="cairn-quickstart-", dir="/tmp")
        for name in ("examples", "include", "sdk"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.path, name))
        os.mkdir(os.path.join(self.path, "build"))     # a guide may compile into it
        for name in os.listdir(build):
            os.symlink(os.path.join(os.path.abspath(build), name), os.path.join(self.path, "build", name))
        if not os.path.exists(os.path.join(self.path, "build", "cairn")):
            os.symlink("src/cli/cairn", os.path.join(self.path, "build", "cairn"))     # as ./run does
        os.mkdir(os.path.join(self.path, "quickstart"))

    def write(self, files):
        for path, body in files.items():
            path = os.path.join(self.path, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(body)

    def start(self, script):
        """What needs root is done by scripts/needs before the tests."""
        script = "\n".join(line for line in script.splitlines() if not line.startswith("apt-get "))
        return subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=self.path, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, script):
        process = self.start(script)
        said, _ = process.communicate(timeout=300)
        if process.returncode:
            raise AssertionError(f"status {process.returncode} of\n{script}\n{said}")
        return said

    def is_asleep(self):
        """Then the charge is on disk: a step that was killed before that is executed again."""
        asked = "SELECT count(*) FROM workflow_step WHERE kind = 'sleep' AND status = 'waiting'"
        for path in glob.glob(self.path + "/quickstart/**/*.db", recursive=True):
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
            is_waiting = connection.execute(asked).fetchone()[0] > 0
            connection.close()
            if is_waiting:
                return True
        return False

    def forget(self):
        for path in glob.glob(self.path + "/quickstart/**/*.db*", recursive=True):
            os.unlink(path)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def follow_program(folder, name):
    """A part whose last command is the program: it is killed after its first step."""
    files, commands, lines = read_part(name)
    before, last = "".join(commands[:-1]), commands[-1].rstrip().splitlines()
    # The folders of the commands come before the files, and what builds the program after them.
    setup = [line for line in before.splitlines() if not line.startswith("apt-get ")]
    folder.run("\n".join(setup) or "true")
    folder.write(files)
    moves = "\n".join(line for line in setup if line.startswith(("cd ", "export ")))
    folder.run("\n".join([moves, *last[:-1]]) or "true")
    program = f"{moves}\nexec {last[-1]}"
    # On a machine that does much else it may be awake before it is killed: then once more.
    tries = 1
    while not kill_after_first_step(folder, program):
        assert tries < 10, "it was never killed in its sleep"
        tries += 1
        folder.forget()
    again = folder.run(program)
    assert FIRST_STEP not in again, "the card was charged twice:\n" + again
    for line in lines:
        assert line in again.splitlines(), f"{line!r} is not in\n{again}"


def kill_after_first_step(folder, program):
    """Whether it was killed in its sleep."""
    first = folder.start(program)
    said = ""
    for line in first.stdout:
        said += line
        if line.strip() == FIRST_STEP:
            break
    assert said.strip().endswith(FIRST_STEP), said
    while first.poll() is None and not folder.is_asleep():
        time.sleep(0.05)
    if first.poll() is None:
        os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    return folder.is_asleep()


def follow_curl(folder):
    """The commands as they are, on a free port."""
    place = f"127.0.0.1:{free_port()}"
    files, commands, _ = read_part("curl")
    folder.write(files)
    script = "".join(commands).replace("127.0.0.1:22476", place) \
        .replace("build/cairn serve", f"build/cairn serve --listen {place}")
    said = folder.run("trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + script)
    assert '"status":"completed"' in said, said


def follow_functions(folder):
    """Each block of commands, and the lines of the block behind it; ids, times and durations differ."""
    def plain(line):
        for pattern in (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"\d{4}-\d\d-\d\dT[\d:.]+Z", r"\d+(\.\d+)?m?s"):
            line = re.sub(pattern, "*", line)
        return " ".join(line.split())
    with open(os.path.join(os.path.dirname(GUIDE), "functions.md"), encoding="utf-8") as file:
        part = re.search(r"^## Five minutes\n(.*?)(?=^## )", file.read(), re.M | re.S).group(1)
    blocks = re.findall(r"^```sh\n(.*?)^```\n```text\n(.*?)^```", part, re.M | re.S)
    assert len(blocks) == 2, part
    for commands, lines in blocks:
        said = [plain(line) for line in folder.run(commands).splitlines()]
        for line in filter(None, map(plain, lines.splitlines())):
            assert line in said, f"{line!r} is not in\n" + "\n".join(said)


def main():
    build, parts = sys.argv[1], sys.argv[2:] or ["python", "go", "c", "curl", "functions"]
    failed = 0
    print(f"1..{len(parts)}", flush=True)
    for number, part in enumerate(parts, 1):
        folder = Folder(build)
        try:
            if part == "curl":
                follow_curl(folder)
            elif part == "functions":
                follow_functions(folder)
            else:
                follow_program(folder, part)
            print(f"ok {number} - the_quickstart_in_{part}", flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"not ok {number} - the_quickstart_in_{part}", flush=True)
            print("\n".join("# " + line for line in str(error).splitlines()), flush=True)
        finally:
            folder.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
