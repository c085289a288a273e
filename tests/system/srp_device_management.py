#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ibsrpdm and srp_daemon find the targets of the device management agent on a fabric that ibsim
simulates: three nodes at a switch, with OpenSM on the first, the agent on the second, and the
tools on the third. Every datagram goes through libibumad and the simulator."""

import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from farblock import (BUILD, Failure, Process, Scratch, Skip, check, eventually,  # noqa: E402
                      main, program, run)

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
TARGETS = ["2001020304050607:0002c90300000001:3261", "aabbccddeeff0011:0002c90300000002:3262"]

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


class Fabric:
    """The simulator, the agent and OpenSM, in this order: the first port that wants to be a
    subnet manager's gets the capability of device management (ibsim/dm_port.c)."""

    def __init__(self, scratch):
        self.scratch, self.started = scratch, []

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
            agent = on_node(self.scratch, "Target", ["srp_dm_agent", *TARGETS])
            # The simulator's library leaks, and copies more than it has received: replace_intrin.
            self.agent = self.begin("agent", agent, "answering", env={
                "SIM_SET_ISSM": "1", "ASAN_OPTIONS":
                "detect_leaks=0:verify_asan_link_order=0:replace_intrin=0"})
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


def add_target(target, gid):
    id_ext, guid, port = target.split(":")
    return (f"id_ext={id_ext},ioc_guid={guid},dgid={gid},pkey=ffff,"
            f"service_id=00000000013f{int(port):04x}")


def main_test():
    with Scratch() as scratch, Fabric(scratch) as fabric:
        details = "\n".join(fabric.ask("ibsrpdm", "-d", "/dev/infiniband/umad0"))
        for text in ("max controllers: 0x02", "IO class : 0100", "service entries: 1",
                     "SRP.T10:2001020304050607", "ID:        farblock aabbccddeeff0011",
                     "Send Messages in bytes: 8448"):
            check(text in details, f"ibsrpdm: no '{text}' in: {details}")
        gid = details.split("port GID:")[1].split()[0]

        lines = fabric.ask("ibsrpdm", "-c", "-d", "/dev/infiniband/umad0")
        check(lines == [add_target(t, gid) for t in TARGETS], f"ibsrpdm -c: {lines}")
        lines = fabric.ask("srp_daemon", "-o", "-c", "-a", "-d", "/dev/infiniband/umad0")
        check([line.strip() for line in lines] == [add_target(t, gid) for t in TARGETS],
              f"srp_daemon: {lines}")

        fabric.agent.signal(1)  # SIGHUP: the first target is gone
        eventually("the targets change", lambda: fabric.ask(
            "ibsrpdm", "-c", "-d", "/dev/infiniband/umad0") == [add_target(TARGETS[1], gid)])
        check(fabric.agent.stop() == 0, f"the agent: {fabric.agent.log()}")
    return 0


if __name__ == "__main__":
    main(main_test)
