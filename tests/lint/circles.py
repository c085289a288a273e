#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Circles of calls between the source files of a folder: none is allowed. A uses a function or table
of B, and B, directly or through others, one of A. Reads the symbols of the object files.

    circles.py BUILD FOLDER...
"""
import collections
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def source(build, name):
    return os.path.join(ROOT, re.sub(r"CMakeFiles/[^/]*\.dir/", "", os.path.relpath(name, build))[:-2])


def uses(build, folders):
    """File -> the files whose symbols it needs."""
    objects = [o for folder in folders
               for o in glob.glob(f"{build}/{folder}/**/CMakeFiles/*.dir/**/*.o", recursive=True)
               if os.path.exists(source(build, o))]  # not of an earlier build
    defined, needed = {}, collections.defaultdict(set)
    for name in objects:
        done = subprocess.run(["nm", name], stdout=subprocess.PIPE, text=True, check=True)
        for words in map(str.split, done.stdout.splitlines()):
            if words[-2] == "U":
                needed[name].add(words[-1])
            elif words[-2] in "TDBR":
                defined[words[-1]] = name
    if not objects:
        sys.exit(f"circles: no object files in {build}")
    return {name: {defined[s] for s in needed[name] if defined.get(s, name) != name}
            for name in objects}


def reach(graph, start):
    seen, left = set(), [start]
    while left:
        for name in graph[left.pop()] - seen:
            seen.add(name)
            left.append(name)
    return seen


def main():
    graph = uses(sys.argv[1], sys.argv[2:])
    beyond = {name: reach(graph, name) for name in graph}
    found = sorted({tuple(sorted(o for o in graph if o in beyond[name] and name in beyond[o]))
                    for name in graph if name in beyond[name]})
    for circle in found:
        print("circle: " + ", ".join(o.split(".dir/")[-1] + f" ({o.split('/CMakeFiles')[0]})"
                                     for o in circle))
    print(f"circles: {len(graph)} files, {len(found)} circles")
    return len(found) > 0


sys.exit(main())
