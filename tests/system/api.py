#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/api.md lists the methods that farblockd has, and its example works.

    api.py
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402


def documented():
    with open(os.path.join(ROOT, "docs", "api.md"), encoding="utf-8") as text:
        rows = re.findall(r"^\| `([a-z.]+)` \| (.*?) \| ([a-z-]+) \| (.*?) \|$", text.read(), re.M)
    return {name: (params, access, words) for name, params, access, words in rows}


def methods(daemon):
    return {name: (", ".join(f"`{p['name']}`" + ("" if p["required"] else "?") for p in m["params"]),
                   "read-only" if m["readonly"] else "full", m["help"])
            for name, m in daemon.rpc("schema")["methods"].items()}


def the_example_works(daemon):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "docs", "farblock_client.py"),
                           daemon.socket_path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)
    check(done.returncode == 0 and "luns LUNs: 1" in done.stdout, done.stdout)


def main():
    with farblock.Scratch() as scratch, farblock.Farblockd(scratch, farblock.Config()) as daemon:
        there, told = methods(daemon), documented()
        for name in there.keys() | told.keys():
            check(there.get(name) == told.get(name), f"{name}: {there.get(name)}, docs/api.md: "
                  f"{told.get(name)}")
        daemon.rpc("tree.run", path="/", command="set", positional=["global"],
                   named={"auto_add_default_portal": False})
        the_example_works(daemon)
    return 0


if __name__ == "__main__":
    farblock.main(main)
