#!/usr/bin/env python3
# check_install.py BUILD SOURCE CC FLAGS - a program is built against an installed copy, with the shared
# and with the static library, by what pkg-config says, and runs.
#
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

build, source, compiler, flags = sys.argv[1:]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        print("# " + " ".join(command))
        print("".join(f"# {line}\n" for line in (done.stdout + done.stderr).splitlines()[-20:]))
        raise SystemExit("not ok - " + command[0])
    return done.stdout


def ask(folder, *options):
    """What pkg-config says of the installed copy, whose files lie under `folder`."""
    files = [str(path.parent) for path in folder.rglob("cairn.pc")]
    if len(files) != 1:
        raise SystemExit(f"not ok - {len(files)} files cairn.pc are installed")
    found = os.environ.get("PKG_CONFIG_PATH", "")
    env = dict(os.environ, PKG_CONFIG_PATH=f"{files[0]}:{found}", PKG_CONFIG_SYSROOT_DIR="")
    said = shlex.split(run("pkg-config", *options, "cairn", env=env))
    prefix = run("pkg-config", "--variable=prefix", "cairn", env=env).strip()
    return [word.replace(prefix, str(folder) + prefix) if prefix in word else word
            for word in said]


def make(folder, name, words):
    output = folder / name
    run(compiler, *shlex.split(flags), source, *words, "-o", str(output))
    return str(output)


print("1..2")
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", scratch)
    shared = ask(folder, "--cflags", "--libs")
    paths = [word[2:] for word in shared if word.startswith("-L")]
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(paths))
    made = make(folder, "shared", shared)
    if "libcairn.so.0" not in run("ldd", made, env=env):
        raise SystemExit("not ok - libcairn.so.0 is not used")
    run(made, f"sqlite:{folder}/shared.db", env=env)
    print("ok 1 - with the shared library")

    # The libraries that libcairn.a needs stay shared: not every one of them comes as a static one.
    static = ["-l:libcairn.a" if word == "-lcairn" else word
              for word in ask(folder, "--static", "--cflags", "--libs")]
    made = make(folder, "static", static)
    if "libcairn" in run("ldd", made):
        raise SystemExit("not ok - libcairn.so is used")
    run(made, f"sqlite:{folder}/static.db")
    print("ok 2 - with the static library")
