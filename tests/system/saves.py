#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The saved file through kill -9 at every system call of a save, and a file of targetcli's with
every kind of object through a restart.

    saves.py
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

SAMPLE = os.path.join(os.path.dirname(HERE), "data", "targetcli.json")
# What a save may call, and nothing that is called while the daemon sleeps.
CALLS = "openat,unlink,write,fsync,close,link,rename,mkdir,stat,newfstatat,access,getdents64"


def read(path):
    with open(path, "rb") as text:
        return text.read()


def disks(path):
    return [s["name"] for s in json.loads(read(path))["storage_objects"]]


class Tracer:
    """strace at the daemon's control thread, with what it is to do to its system calls."""

    def __init__(self, daemon, log, *arguments):
        self.process = subprocess.Popen(
            [farblock.program("strace"), "-p", str(daemon.pid), "-o", log, *arguments],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if "attached" not in line:
            self.process.wait()
            raise farblock.Skip(f"strace cannot attach: {line.strip()}")

    def end(self):
        self.process.terminate()
        self.process.communicate()


def calls_of_a_save(daemon, log):
    """The system calls of one change, in order."""
    tracer = Tracer(daemon, log, "-e", f"trace={CALLS}")
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk",
               named={"name": "a", "size": "4M"})
    tracer.end()
    with open(log, encoding="utf-8") as text:
        lines = [re.match(r"(\w+)\(", line) for line in text]
    return [m.group(1) for m in lines if m]


def kill_at_every_call(scratch):
    """Whatever call is its last: the file is the old one or the new one, whole, and the daemon starts
    with it."""
    config = farblock.Config()
    config.target(luns=[config.ramdisk("rd0", 4 << 20)])
    daemon = farblock.Farblockd(scratch, config)
    with daemon:
        calls = calls_of_a_save(daemon, scratch.file("calls.log"))
        check({"fsync", "rename", "link"} <= set(calls), f"calls of a save: {calls}")
    outcomes, seen = set(), {}
    for call in calls:
        seen[call] = seen.get(call, 0) + 1
        with daemon:
            before = read(daemon.config_path)
            name = f"at{len(outcomes)}-{call}-{seen[call]}"
            tracer = Tracer(daemon, scratch.file("kill.log"), "-e", f"trace={call}", "-e",
                            f"inject={call}:signal=SIGKILL:when={seen[call]}")
            try:
                daemon.rpc("tree.run", command="create", path="/backstores/ramdisk",
                           named={"name": name, "size": "4M"})
            except (ValueError, OSError):
                pass  # its answer never came
            tracer.process.communicate()
            check(daemon.process.wait(20) == -9, f"{call} {seen[call]}: was not killed")
            after = read(daemon.config_path)
            is_new = name in disks(daemon.config_path)
            check(is_new or after == before, f"{call} {seen[call]}: neither the old nor the new")
            outcomes.add(is_new)
            daemon.start()
            there = [c["name"] for c in daemon.rpc("tree.ls", path="/backstores/ramdisk",
                                                   depth=1)["children"]]
            check((name in there) == is_new, f"{call} {seen[call]}: restarted with {there}")
            if is_new:
                daemon.rpc("tree.run", command="delete", path="/backstores/ramdisk",
                           named={"name": name})
    check(outcomes == {False, True}, f"only {outcomes} came out of it")
    print(f"killed at {len(calls)} calls: {' '.join(calls)}")


def without_ours(doc):
    """What was saved, without our section, the portals of SRP targets, and what older versions of
    targetcli leave out."""
    for target in doc["targets"]:
        for tpg in target["tpgs"]:
            tpg.pop("srp_portals", None)
    return {key: value for key, value in doc.items() if key != "farblock"}


def by_name(doc):
    for key, name in (("storage_objects", "name"), ("targets", "wwn")):
        doc[key] = sorted(doc[key], key=lambda o: o[name])
    return doc


def sample_survives(scratch):
    """A file saved by targetcli is saved again with the same content."""
    config = farblock.Config()
    daemon = farblock.Farblockd(scratch, config)
    with open(SAMPLE, encoding="utf-8") as text:
        sample = json.load(text)
    with open(daemon.config_path, "w", encoding="utf-8") as out:
        json.dump(sample, out)
    for _ in range(2):
        with daemon:
            daemon.rpc("tree.run", path="/", command="saveconfig")
            log = daemon.log()
        kept = [line for line in log.splitlines() if "kept without effect" in line or
                "made up" in line]
        check(not kept, f"refused: {kept}")
        again = by_name(without_ours(json.loads(read(daemon.config_path))))
        differences = list(differing(by_name(dict(sample)), again))
        check(not differences, "\n".join(differences))


def differing(a, b, path=""):
    if type(a) is not type(b):
        yield f"{path}: {a!r} became {b!r}"
    elif isinstance(a, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                yield f"{path}/{key}: {a.get(key, 'nothing')!r} became {b.get(key, 'nothing')!r}"
            else:
                yield from differing(a[key], b[key], f"{path}/{key}")
    elif isinstance(a, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differing(x, y, f"{path}[{i}]")
    elif a != b:
        yield f"{path}: {a!r} became {b!r}"


def main():
    for test in (sample_survives, kill_at_every_call):
        with farblock.Scratch() as scratch:
            test(scratch)
        print(f"{test.__name__}: passed")
    return 0


if __name__ == "__main__":
    farblock.main(main)
