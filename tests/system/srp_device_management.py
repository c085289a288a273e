#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ibsrpdm and srp_daemon find farblockd's targets on a fabric that ibsim simulates: three nodes at a
switch, with OpenSM on the first, farblockd on the second, and the tools on the third. Every datagram
goes through libibumad and the simulator. What info prints is what the tools print."""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from farblock import (BUILD, Config, Failure, Farblockd, Process, Scratch, Shell,  # noqa: E402
                      Skip, check, eventually, free_port, main, program, run)

FABRIC = """
Switch 8 "Switch1"
[1] "Sm"[1]
[2] "Target"[1]
[3] "Initiator"[1]

Hca 1 "Sm"
[1] "Switch1"[1]

Hca 1 "Target"
[1] "Switch1"[2]

Hca 1 "Initiator"
[1] "Switch1"[3]
"""
TARGETS = ["ib.20010203040506070002c90300000001", "ib.aabbccddeeff00110002c90300000002"]

# The simulator's sysfs, in the current folder under the process id, lacks the file link_layer.
ON_NODE = """
cd "$1" && mkdir -p no-scsi-host sys-$$/sys/class/infiniband/ibsim0/ports/1 &&
echo InfiniBand > sys-$$/sys/class/infiniband/ibsim0/ports/1/link_layer || exit 1
export SIM_HOST="$2" LD_PRELOAD="$3"
shift 3
exec "$@"
"""


def simulator():
    """The library that has programs use the simulated fabric."""
    found = glob.glob("/usr/lib*/umad2sim/*.so") + glob.glob("/usr/lib/*/umad2sim/*.so")
    if not found:
        raise Skip("libumad2sim is not installed")
    return found[0]


def shim(name):
    path = os.path.join(BUILD, "tests/system", f"libibsim_{name}.so")
    if not os.path.exists(path):
        raise Skip(f"{path} is not built")
    return path


def on_node(scratch, node, command, preload=()):
    """The command line that runs a program on a node of the fabric."""
    libraries = " ".join([simulator(), *preload])
    return ["sh", "-c", ON_NODE, "sh", scratch.path, node, libraries,
            program(command[0]), *command[1:]]


class Simulated(Process):
    """A program of the fabric; ready when its log has that text."""

    def __init__(self, scratch, name, command, ready, env=None):
        super().__init__(scratch, name)
        self.command, self.ready, self.env = command, ready, env

    def has_said(self, text):
        if not self.is_running():
            raise Failure(f"{self.name}: ended: {self.log()[-2000:].strip()}")
        return text in self.log()

    def start(self):
        self.spawn(self.command, env=self.env)
        eventually(f"{self.name}: {self.ready}", lambda: self.has_said(self.ready))


class Target(Farblockd):
    """farblockd on its node."""

    # The simulator's library leaks, and copies more than it has received: replace_intrin.
    environment = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:replace_intrin=0"}

    def spawn(self, command, **options):
        super().spawn(on_node(self.scratch, "Target", command), **options)

    def start(self):
        super().start()
        eventually("farblockd answers", lambda: self.log().count("port 1: answering") == self.starts)
        self.starts += 1
        return self

    starts = 1


class Fabric:
    """The simulator, farblockd and OpenSM, in this order: the first port that wants to be a subnet
    manager's gets the capability of device management (ibsim/dm_port.c)."""

    def __init__(self, scratch, config):
        self.scratch, self.started = scratch, []
        self.target = Target(scratch, config)

    def begin(self, *arguments, **options):
        process = Simulated(self.scratch, *arguments, **options)
        self.started.append(process)
        process.start()
        return process

    def __enter__(self):
        try:
            os.environ["IBSIM_SOCKNAME"] = f"farblock-test-{os.getpid()}"
            self.begin("ibsim", ["ibsim", "-s", "-n", self.scratch.file("net", content=FABRIC)],
                       "simulator ready", env={"LD_PRELOAD": shim("dm_port")})
            os.environ["SIM_SET_ISSM"] = "1"
            self.started.append(self.target)
            self.target.start()
            del os.environ["SIM_SET_ISSM"]
            opensm = ["opensm", "-f", "stdout", "-d", "2"]  # 2: flushes its log
            self.begin("opensm", on_node(self.scratch, "Sm", opensm), "SUBNET UP", env={
                "OSM_CACHE_DIR": self.scratch.path, "OSM_TMP_DIR": self.scratch.path})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.kill()

    def ask(self, *command):
        """Runs a tool on the initiator's node; returns the lines it prints."""
        done = run(on_node(self.scratch, "Initiator", command, [shim("srptools")]))
        return [line for line in done.stdout.splitlines() if line and "ibwarn" not in line]


def lines_of(targets, gid):
    return [f"id_ext={t.port_id[:16]},ioc_guid={t.port_id[16:]},dgid={gid},pkey=ffff,"
            f"service_id=00000000013f{t.port:04x}" for t in targets]


def the_tools_find_the_targets(fabric, targets):
    """Returns the GID of the port."""
    details = "\n".join(fabric.ask("ibsrpdm", "-d", "/dev/infiniband/umad0"))
    for text in ("max controllers: 0x02", "IO class : 0100", "service entries: 1",
                 "SRP.T10:2001020304050607", f"ID:        farblock {TARGETS[1]}",
                 "Send Messages in bytes: 8448"):
        check(text in details, f"ibsrpdm: no '{text}' in: {details}")
    gid = details.split("port GID:")[1].split()[0]
    lines = fabric.ask("ibsrpdm", "-c", "-d", "/dev/infiniband/umad0")
    check(lines == lines_of(targets, gid), f"ibsrpdm -c: {lines}")
    lines = fabric.ask("srp_daemon", "-o", "-c", "-a", "-d", "/dev/infiniband/umad0")
    check([line.strip() for line in lines] == lines_of(targets, gid), f"srp_daemon: {lines}")
    return gid


def changes_are_followed(fabric, shell, targets, gid):
    def found():
        return fabric.ask("ibsrpdm", "-c", "-d", "/dev/infiniband/umad0")

    shell(targets[0].path, "disable")
    eventually("a disabled target goes", lambda: found() == lines_of(targets[1:], gid))
    shell(targets[0].path, "enable")
    eventually("an enabled target comes", lambda: found() == lines_of(targets, gid))
    shell(f"{targets[1].path}/portals", "transport", "iwarp")
    eventually("a target without RDMA goes", lambda: found() == lines_of(targets[:1], gid))
    shell(f"{targets[1].path}/portals", "transport", "all")
    eventually("a target with RDMA comes", lambda: found() == lines_of(targets, gid))


def info_prints_what_srp_daemon_prints(fabric, shell, targets):
    """The simulator's files are those of the start of a program: farblockd starts again."""
    said = [line.strip() for line in fabric.ask("srp_daemon", "-o", "-c", "-a", "-n", "-d",
                                                "/dev/infiniband/umad0")]
    fabric.target.stop()
    fabric.target.start()
    told = [row["add_target"] for target in targets
            for row in json.loads(shell("--json", target.path, "info"))["attach"]
            if "dgid=" in row["add_target"]]
    check(told == said and len(told) == 2, f"info: {told}, srp_daemon: {said}")


def main_test():
    config = Config()
    targets = [config.srp_target([config.ramdisk(f"rd{i}", 1 << 20)], wwn=name,
                                 portals=[("0.0.0.0", free_port("0.0.0.0"))])
               for i, name in enumerate(TARGETS)]
    with Scratch() as scratch, Fabric(scratch, config) as fabric:
        shell = Shell(fabric.target)
        gid = the_tools_find_the_targets(fabric, targets)
        changes_are_followed(fabric, shell, targets, gid)
        info_prints_what_srp_daemon_prints(fabric, shell, targets)
        check(fabric.target.stop() == 0, f"farblockd: {fabric.target.log()}")
        check(not fabric.target.sanitizer_report(), fabric.target.sanitizer_report())
    return 0


if __name__ == "__main__":
    main(main_test)
