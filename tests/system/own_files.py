#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No disk is served from a file of farblockd's own: its saved file, backups, locks, state and
socket, by their names or others, at create and from a saved file; neighbours of them are."""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Shell, check  # noqa: E402


def own(scratch, daemon):
    """Paths of its own files by kind, including those that do not exist yet."""
    for folder in ("pr", "alua", "sanitize"):
        os.makedirs(os.path.join(daemon.state_path, folder), exist_ok=True)
    state = os.path.join(daemon.state_path, "pr", "aptpl_x")
    with open(state, "wb") as out:
        out.truncate(4096)
    backup = glob.glob(os.path.join(scratch.path, "backup", "*"))[0]
    links = {"a symlink": (os.symlink, daemon.config_path), "of a backup": (os.link, backup),
             "of a state": (os.link, state), "of the socket": (os.link, daemon.socket_path)}
    names = {}
    for name, (link, path) in links.items():
        names[name] = scratch.file(f"{name}.link")
        link(path, names[name])
    detour = os.path.join(scratch.path, "..", os.path.basename(scratch.path), "farblockd.sock.lock")
    return {"saved file": daemon.config_path, "temporary": daemon.config_path + ".temp",
            "lock": daemon.config_path + ".lock", "a socket": daemon.socket_path, "detour": detour,
            "damaged": daemon.config_path + ".damaged-20250101-00:00:00", "backup": backup,
            "state": state, "state to be": os.path.join(daemon.state_path, "alua", "new"),
            "state's lock": os.path.join(daemon.state_path, "lock"), **names}


def main():
    with farblock.Scratch() as scratch:
        with farblock.Farblockd(scratch, farblock.Config()) as daemon:
            shell = Shell(daemon)
            shell("/backstores/ramdisk", "create", "r0", "1M")
            shell("/backstores/ramdisk", "create", "r1", "1M")
            before = daemon.rpc("tree.ls")
            for name, path in own(scratch, daemon).items():
                was_there = os.path.lexists(path)
                said = shell("/backstores/fileio", "create", "f0", path, "1M", status=8)
                check("farblockd's own" in said, f"{name}: {said}")
                check(os.path.lexists(path) == was_there, f"{name}: made")
            shell("/backstores/block", "create", "f0", daemon.config_path, status=8)
            check(daemon.rpc("tree.ls") == before, "something is left of what was refused")
            with open(daemon.config_path, encoding="utf-8") as text:
                saved = json.load(text)
            shell("/backstores/fileio", "create", "near", daemon.config_path + ".img", "1M")
            shell("/backstores/fileio", "create", "inside", os.path.join(daemon.state_path, "i"), "1M")
            saved["storage_objects"].append({"plugin": "fileio", "name": "f0", "size": 1 << 20,
                                             "dev": daemon.config_path, "write_back": True})
            shell("apply", scratch.file("with.json", content=json.dumps(saved)))
            check("farblockd's own saved file" in shell("/backstores/fileio/f0", "status"), "served")
            with open(daemon.config_path, encoding="utf-8") as text:
                kept = [s["name"] for s in json.load(text)["storage_objects"]]
            check("f0" in kept, f"lost from the saved file: {kept}")
    return 0


if __name__ == "__main__":
    farblock.main(main)
