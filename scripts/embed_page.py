#!/usr/bin/env python3
"""Builds the page and turns its files into one C file.

usage: embed_page.py MODE WEB OPENAPI WORK OUTPUT DEPFILE

MODE is that of the build option `page`: auto, enabled or disabled.  WEB is the folder web/, of which WORK gets
a copy, so that the source stays as it is.  OUTPUT is page_assets.c: the files, compressed with gzip,
but index.html, in which the server puts its prefix (src/http/page.h).  The same files give the same bytes.

If something is missing (node, npm, packages that npm cannot fetch), `auto` writes a table without files that
says why, and the server answers with that; `enabled` fails.  DEPFILE tells ninja what was read."""
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
LEFT_OUT = {"node_modules", "dist", "test-results"}
OLDEST_NODE = 18


class Missing(Exception):
    """The page cannot be built here."""


def sources(web):
    for folder, folders, names in os.walk(web):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            yield pathlib.Path(folder) / name


def run(command, folder, what):
    """Output goes to a log: it is read only when something failed."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "NO_COLOR": "1", "CI": "1"}, check=False)
    (folder / "build.log").write_text(done.stdout)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise Missing(what)


def check_node():
    if not shutil.which("node") or not shutil.which("npm"):
        raise Missing("node and npm are not installed")
    text = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not text.startswith("v") or int(text[1:].split(".")[0]) < OLDEST_NODE:
        raise Missing(f"node {text[1:]} is older than {OLDEST_NODE}")


def install(work):
    """What package-lock.json names, unless that was done already."""
    lock = (work / "package-lock.json").read_bytes()
    stamp = work / "node_modules" / ".installed"
    if stamp.exists() and stamp.read_bytes() == lock:
        return
    run(["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], work,
        "npm could not fetch packages")
    stamp.write_bytes(lock)


def build(web, openapi, work):
    check_node()
    work.mkdir(parents=True, exist_ok=True)
    for name in ("src", "dist"):
        shutil.rmtree(work / name, ignore_errors=True)
    for path in sources(web):
        copy = work / path.relative_to(web)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    install(work)
    done = subprocess.run(["node", "build.mjs"], cwd=work, check=False)
    if done.returncode:
        sys.exit("the page could not be built")
    return {path.name: path.read_bytes() for path in sorted((work / "dist").iterdir())
            if path.suffix in TYPES}


def write(output, files, missing):
    lines = ["/* Made by scripts/embed_page.py. */", '#include "http/page.h"', ""]
    table = []
    whole = hashlib.sha256()
    for number, (name, content) in enumerate(files.items()):
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
        is_plain = name == "index.html"
        stored = content if is_plain else gzip.compress(content, 9, mtime=0)
        lines.append(f"static const unsigned char file_{number}[] = {{")
        for start in range(0, len(stored), 24):
            lines.append("    " + ", ".join(str(byte) for byte in stored[start:start + 24]) + ",")
        lines.append("};")
        kind = TYPES[pathlib.Path(name).suffix]
        table.append(f'    {{"{name}", "{kind}", file_{number}, sizeof file_{number}}},')
    if files:
        lines += ["static const struct ui_file files[] = {", *table, "};", ""]
    lines += ["const struct ui_files ui_built_in = {",
              f"    .files = {'files' if files else '0'},", f"    .count = {len(files)},",
              f'    .hash = "{whole.hexdigest()[:16]}",',
              f"    .missing = {json.dumps(missing) if missing else '0'},", "};", ""]
    pathlib.Path(output).write_text("\n".join(lines))


def main():
    mode, web, openapi, work, output, depfile = sys.argv[1:]
    files, missing = {}, None
    try:
        if mode == "disabled":
            raise Missing("the build option page was set to disabled")
        files = build(pathlib.Path(web), pathlib.Path(openapi), pathlib.Path(work))
    except Missing as reason:
        if mode == "enabled":
            sys.exit(f"cannot build the page: {reason}")
        missing = f"built without the page: {reason}"
        if mode == "auto":
            print(missing, file=sys.stderr)
    write(output, files, missing)
    read = [str(path) for path in sources(web)] if mode != "disabled" else []
    folders = sorted({str(pathlib.Path(path).parent) for path in read})
    pathlib.Path(depfile).write_text(f"{output}: " + " ".join(read + folders) + "\n")


if __name__ == "__main__":
    main()
