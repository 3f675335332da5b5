#!/usr/bin/env python3
"""Makes the static library that users link with: one object file with the public names alone.

usage: make_static.py ARCHIVE OUTPUT OBJECT

An archive of many objects would offer every internal name, such as fail() or find(), to the user's
program, and clash with its own.  So all objects are linked into one (OBJECT, in a folder for such
files), in which hidden names become local."""
import os
import subprocess
import sys

archive, output, object_file = sys.argv[1:]
subprocess.run(["ld", "-r", "--whole-archive", archive, "-o", object_file], check=True)
subprocess.run(["objcopy", "--localize-hidden", object_file], check=True)
if os.path.exists(output):
    os.remove(output)
subprocess.run(["ar", "rcs", output, object_file], check=True)
os.remove(object_file)
