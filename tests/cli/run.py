#!/usr/bin/env python3
"""tests/cli/run.py - runs transcripts (*.t) and compares what commands print with what is written.

SPDX-License-Identifier: Apache-2.0

    run.py --cairn PROGRAM --store sqlite|postgres [--update] FILE...

A transcript is a list of commands and their output:

    # What this shows.
    $ cairn job show nothing
    ! cairn: job "nothing" does not exist
    [1]

Lines of standard output stand as they are, then those of standard error after "! ", then the exit
code in brackets if it is not 0.  A command goes on in lines that begin with "> ".  All commands of
a file run in one bash, in an empty folder, on an empty store ($CAIRN_URL).  Ids become <id1>,
<id2>, ... in the order in which they appear; times become <time>, relative ones <ago>; "<*>" in an
expected line stands for anything.  A file whose first line is "# stores: sqlite" runs only there.

$EXAMPLES is the folder of the examples.

Prints TAP, one result for each file.  With --update it writes what was seen into the files.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

EXAMPLES = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../examples"))

PATIENCE = 600      # seconds after which a transcript is stuck

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
AGO = re.compile(r"(?<=  )now\b|(?<=\()now\b|\b\d+[smhd] ago\b")
WORKER = re.compile(r"[\w.-]+:\d+:[0-9a-f]{8}")
# A machine that does much else may be slow, and is said to be.
SLOW = re.compile(r"^(?:! )?cairn: (?:a commit took \d+ ms|timers were applied \d+ ms late)(?:\n|$)", re.M)
TOOK = re.compile(r"(?<=\b(?:Completed|Succeeded) in )(?:\d+ms|\d+\.\ds|\d+m \d+s)")


class Step:
    def __init__(self, command):
        self.command = [command]
        self.expected = []


def parse(path):
    """The comment lines before each command, and the commands with what they should print."""
    steps, comments = [], []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("$ "):
                steps.append(Step(line[2:]))
                steps[-1].comments, comments = comments, []
            elif line.startswith("> ") and steps and not steps[-1].expected:
                steps[-1].command.append(line[2:])
            elif line.startswith("#"):
                comments.append(line)
            elif line or not comments and steps:
                steps[-1].expected.append(line)
    for step in steps:
        step.expected = trim(step.expected)
    return steps, comments


def trim(lines):
    """Without the empty lines at the end: they may be there to part one thing from the next."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def new_database():
    """An empty PostgreSQL database on the private server: its name and URL."""
    server = os.environ.get("CAIRN_TEST_POSTGRES")
    if not server:
        sys.exit("CAIRN_TEST_POSTGRES is not set: run ./test, which starts a private server")
    new_database.count = getattr(new_database, "count", 0) + 1
    name = f"cairn_cli_{os.getpid()}_{new_database.count}"
    sql = f"CREATE DATABASE {name} TEMPLATE template0"
    subprocess.run(["psql", "-q", "-d", server, "-c", sql], check=True)
    base, _, query = server.partition("?")
    scheme, rest = base.split("://", 1)
    host = rest.split("/", 1)[0]
    return name, f"{scheme}://{host}/{name}" + (f"?{query}" if query else "")


def drop_database(name):
    server = os.environ["CAIRN_TEST_POSTGRES"]
    sql = f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"
    subprocess.run(["psql", "-q", "-d", server, "-c", sql], check=False)


class Normaliser:
    def __init__(self, url, folder):
        self.url, self.folder, self.ids = url, folder, {}
        self.shown_url = re.sub(r"(://[^/@:]*):[^/@]*@", r"\1@", url)    # no password is printed

    def id_name(self, match):
        return self.ids.setdefault(match.group(), f"<id{len(self.ids) + 1}>")

    def clean(self, text):
        text = text.replace(self.url, "<url>").replace(self.shown_url, "<url>")
        text = SLOW.sub("", text.replace(self.folder, "<folder>"))
        text = TIME.sub("<time>", ID.sub(self.id_name, text))
        text = TOOK.sub("<*>", WORKER.sub("<worker>", text))
        clean = AGO.sub("<ago>", text)
        # Columns are as wide as their texts, which have changed.
        if clean != text:
            clean = re.sub(r"  +", "  ", clean)
        return clean


def run_steps(steps, cairn, url, folder):
    """Runs all commands in one bash; what each printed, in the form of a transcript."""
    logs = os.path.join(folder, ".logs")
    work = os.path.join(folder, "work")
    os.mkdir(logs)
    os.mkdir(work)
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="utf-8") as file:
        for i, step in enumerate(steps):
            file.write("{\n" + "\n".join(step.command) + "\n"
                       f"}} >{logs}/{i}.out 2>{logs}/{i}.err </dev/null\n"
                       f"echo $? >{logs}/{i}.code\n")
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("CAIRN_") or key == "CAIRN_TEST_POSTGRES"}
    environment.update(CAIRN_URL=url, TMPDIR=folder, LC_ALL="C.UTF-8", EXAMPLES=EXAMPLES,
                       PATH=os.path.dirname(cairn) + ":" + os.environ["PATH"])
    process = subprocess.Popen(["bash", script], cwd=work, env=environment,
                               start_new_session=True)
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        print(f"# took longer than {PATIENCE} s: {url}")
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # whatever a transcript has left behind
        except ProcessLookupError:
            pass
        process.wait()
    return [read_step(logs, i) for i in range(len(steps))]


def read_step(logs, i):
    def read(name):
        try:
            with open(f"{logs}/{i}.{name}", encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return {"out": "(was not reached)", "err": "", "code": "0"}[name]
    seen = read("out").splitlines()
    seen += ["! " + line for line in read("err").splitlines()]
    code = read("code").strip()
    return seen + ([f"[{code}]"] if code != "0" else [])


def is_match(expected, seen):
    if "<*>" not in expected:
        return expected == seen
    pattern = ".*".join(re.escape(part) for part in expected.split("<*>"))
    return re.fullmatch(pattern, seen) is not None


def compare(steps, seen):
    """What differs, as lines to print."""
    for step, lines in zip(steps, seen):
        is_same = len(lines) == len(step.expected) and all(map(is_match, step.expected, lines))
        if not is_same:
            yield "$ " + step.command[0]
            yield from ("- " + line for line in step.expected)
            yield from ("+ " + line for line in lines)


def update(path, steps, rest, seen):
    with open(path, "w", encoding="utf-8") as file:
        for step, lines in zip(steps, seen):
            is_same = len(lines) == len(step.expected) and all(map(is_match, step.expected, lines))
            output = step.expected if is_same else lines
            command = ["$ " + step.command[0]] + ["> " + line for line in step.command[1:]]
            file.write("\n".join(step.comments + command + output) + "\n")
        if rest:
            file.write("\n".join(rest) + "\n")


def run_file(path, options):
    steps, rest = parse(path)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="cairn-cli-"))
    database = None
    url = f"sqlite:{folder}/store.db"
    if options.store == "postgres":
        database, url = new_database()
    try:
        clean = Normaliser(url, folder).clean
        seen = [trim([line.rstrip() for line in clean("\n".join(lines)).splitlines()])
                for lines in run_steps(steps, options.cairn, url, folder)]
    finally:
        shutil.rmtree(folder)
        if database:
            drop_database(database)
    if options.update:
        update(path, steps, rest, seen)
    return list(compare(steps, seen))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.cairn = os.path.realpath(options.cairn)

    def is_here(path):
        with open(path, encoding="utf-8") as file:
            first = file.readline()
        return not first.startswith("# stores:") or options.store in first

    files = [path for path in options.files if is_here(path)]
    print(f"1..{len(files)}")
    for number, path in enumerate(files, 1):
        problems = run_file(path, options)
        name = f"{os.path.basename(path)[:-2]} on {options.store}"
        print(f"{'not ok' if problems else 'ok'} {number} - {name}", flush=True)
        for line in problems:
            print("# " + line, flush=True)


if __name__ == "__main__":
    main()
