# SPDX-License-Identifier: BSD-2-Clause
"""What the configuration costs with 10,000 LUNs: CPU of farblockd and of the shell for `ls`, one
create, one save, the wall time of a start with such a saved file, of restoreconfig, of making them in
a batch, and how long the shell takes with nothing to do."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time

import farblock
from machine import cpu_seconds, describe

CPU_MS, RESTORE_S, START_S = 100, 2.0, 0.020
INITIATOR = "iqn.2025-01.org.farblock.test:host"


def saved(scratch, count, plugin):
    """A configuration of so many LUNs in one group, all of them mapped for one ACL."""
    config = farblock.Config()
    if plugin == "fileio":
        paths = [config.fileio(f"d{i}", scratch.file(f"d{i}.img"), 1 << 20) for i in range(count)]
    else:
        paths = [config.storage("ramdisk", f"d{i}", size=1 << 20, nullio=True)
                 for i in range(count)]
    acl = {"node_wwn": INITIATOR, "attributes": {}, "mapped_luns": [
        {"index": i, "tpg_lun": i, "write_protect": False} for i in range(count)]}
    target = config.target(luns=paths, attributes={"generate_node_acls": 0}, node_acls=[acl])
    return config, target


class Cpu:
    """CPU of the daemon, in ms, and wall time, in s, of what is done in the block."""

    def __init__(self, daemon):
        self.daemon = daemon

    def __enter__(self):
        self.cpu, self.wall = cpu_seconds(self.daemon.pid), time.monotonic()
        return self

    def __exit__(self, *_):
        self.ms = (cpu_seconds(self.daemon.pid) - self.cpu) * 1e3
        self.s = time.monotonic() - self.wall


def shell(daemon, *words):
    """CPU in ms that a line of the shell costs, the daemon's and its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Cpu(daemon) as cost:
        subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path, *words],
                       check=True, stdout=subprocess.DEVNULL, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cost.ms + own * 1e3


def steps(daemon, target, count):
    """CPU in ms of single lines."""
    luns, disks = f"/iscsi/{target.iqn}/tpg1/luns", "/backstores/ramdisk"
    return {name: shell(daemon, *words) for name, words in (
        ("ls", ("ls",)),
        ("create a disk", (disks, "create", "more", "1M", "nullio=true")),
        ("create a LUN", (luns, "create", f"{disks}/more", str(count))),
        ("delete a LUN", (luns, "delete", str(count))),
        ("delete a disk", (disks, "delete", "more")),
        ("saveconfig", ("saveconfig",)))}


def starts(scratch, count=300):
    """Seconds from the start of a shell to its end that half of them and 99 % stay below."""
    walls = []
    with farblock.Farblockd(scratch, farblock.Config(), "starts") as daemon:
        words = [farblock.program("farblock"), "--socket", daemon.socket_path, "status"]
        null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
        for _ in range(count):
            before = time.monotonic()
            child = os.posix_spawn(words[0], words, os.environ, file_actions=null)
            _, status = os.waitpid(child, 0)
            walls.append(time.monotonic() - before)
            if status:
                raise farblock.Failure(f"farblock status: wait status {status}")
    walls.sort()
    return {"shell, p50": walls[count // 2], "shell, p99": walls[count * 99 // 100]}


def batch(scratch, count):
    """Seconds until so many disks and LUNs that come as lines are made."""
    config = farblock.Config()
    target = config.target(luns=[])
    lines = "".join(f"/backstores/ramdisk create d{i} 1M nullio=true\n"
                    f"/iscsi/{target.iqn}/tpg1/luns create /backstores/ramdisk/d{i}\n"
                    for i in range(count))
    with farblock.Farblockd(scratch, config, "batch") as daemon, Cpu(daemon) as cost:
        done = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path],
                              input=lines, text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=600)
        if done.returncode:
            raise farblock.Failure(f"batch: {done.stderr[-500:]}")
    return {"batch of creates": cost.s}


def round_of(scratch, count, plugin):
    config, target = saved(scratch, count, plugin)
    daemon = farblock.Farblockd(scratch, config, plugin)
    before = time.monotonic()
    with daemon:
        out = {f"start, {plugin}": time.monotonic() - before}
        out.update(steps(daemon, target, count))
        with Cpu(daemon) as cost:
            daemon.rpc("tree.run", path="/", command="restoreconfig",
                       named={"clear_existing": True})
        out[f"restoreconfig, {plugin}"] = cost.s
        luns = daemon.rpc("tree.ls", path=f"/iscsi/{target.iqn}/tpg1/luns", depth=1)
        if len(luns["children"]) != count:
            raise farblock.Failure(f"restored {len(luns['children'])} of {count} LUNs")
    os.unlink(daemon.config_path)
    return out


def run(options):
    farblock.program("farblockd")
    samples = []
    for _ in range(options.rounds):
        samples.append({})
        for plugin in ("fileio", "ramdisk"):
            with farblock.Scratch(in_memory=True) as scratch:
                samples[-1].update(round_of(scratch, options.luns, plugin))
        with farblock.Scratch(in_memory=True) as scratch:
            samples[-1].update(batch(scratch, options.luns))
        with farblock.Scratch(in_memory=True) as scratch:
            samples[-1].update(starts(scratch))
    print(f"| {options.luns:,} LUNs | | must be | |\n|---|---|---|---|")
    for name in samples[0]:
        values = [s[name] for s in samples]
        middle, is_wall = statistics.median(values), "," in name or "batch" in name
        unit, limit = ("s", RESTORE_S) if is_wall else ("ms of CPU", CPU_MS)
        if name.startswith("shell"):
            limit = START_S
        is_judged = "batch" not in name
        must = f"<= {limit:g} {unit}" if is_judged else ""
        met = ("met" if middle <= limit else "missed") if is_judged else ""
        print(f"| {name} | {middle:.4g} {unit} [{min(values):.4g}-{max(values):.4g}] "
              f"| {must} | {met} |")
    print(f"\n{describe()}; {options.rounds} rounds.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as text:
            json.dump(samples, text, indent=1)
    sys.stdout.flush()
    return 0
