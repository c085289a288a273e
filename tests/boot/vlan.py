#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose firmware's table names a VLAN gets its root from a target in there. Its cable ends at a
switch, in a network namespace of its own, which drops what is not in the VLAN.

    vlan.py [kernel-initrd] [kernel-dracut] [user-initrd] [user-dracut]"""

import fcntl
import os
import select
import socket
import struct
import sys
import threading
from functools import partial

import farblock_path  # noqa: F401
from boot import DRACUT, INITRD, each, ends_well
from farblock import LIBC, Scratch, Skip, main, run
from ibft import table
from machine import HANG, INITIATOR, Machine
from target import Root

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
TAGGED, VLAN = 0x8100, 42
ADDRESS, MACHINE = "10.77.42.1", "10.77.42.10"
MAC = "52:54:00:12:34:56"  # QEMU's choice
FRAME_MAX = 65536
GATE = 4242  # a port
# In the running system, when the prompt was seen and the gate closes: the root's address is that of the
# VLAN, and a write reaches the target.
COMMAND = f"""
cat </dev/tcp/{ADDRESS}/{GATE} || exit 7
ip -d -o link show type vlan up | grep "id {VLAN} " || exit 3
[ -z "$(ip -4 -o addr show dev eth0)" ] || exit 4
ip -o route get {ADDRESS} | grep "dev eth0.{VLAN} src {MACHINE} " || exit 5
dd if=/dev/zero of=/var/tmp/probe bs=4k count=1 oflag=direct conv=fsync status=none || exit 6
"""


def untagged(frame):
    """A frame of the VLAN without its tag; None: another one."""
    kind, tag = struct.unpack_from("!HH", frame, 12)
    return frame[:12] + frame[16:] if kind == TAGGED and tag & 0xfff == VLAN else None


def tagged(frame):
    return frame[:12] + struct.pack("!HH", TAGGED, VLAN) + frame[12:]


class Switch:
    """Between the machine's frames, which QEMU has as datagrams, and the tap device of the target's
    network, which it makes. It works until this process ends."""

    def __init__(self, scratch):
        self.near, self.far = scratch.file("switch"), scratch.file("nic")
        self.machine = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.machine.bind(self.near)
        self.tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.tap, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI))
        for words in ("link set lo up", f"addr add {ADDRESS}/24 dev tap0", "link set tap0 up"):
            run(["ip", *words.split()])
        threading.Thread(target=self.work, daemon=True).start()

    @property
    def network(self):
        """Of QEMU's command line."""
        return (f"dgram,id=n0,local.type=unix,local.path={self.far},remote.type=unix,"
                f"remote.path={self.near}")

    def work(self):
        while True:
            ready, _, _ = select.select([self.machine, self.tap], [], [])
            if self.machine in ready:
                frame = untagged(self.machine.recv(FRAME_MAX))
                if frame:
                    os.write(self.tap, frame)
            if self.tap in ready:
                self.to_machine(tagged(os.read(self.tap, FRAME_MAX)))

    def to_machine(self, frame):
        try:
            self.machine.sendto(frame, self.far)
        except (FileNotFoundError, ConnectionRefusedError):
            pass  # it is off


def boots(name, pair, words, says):
    """The console says the disk, the command finds the VLAN in the system, and nothing is lost."""
    if LIBC.unshare(CLONE_NEWNET):
        raise Skip("no right to make network namespaces")
    with Scratch() as scratch:
        network = Switch(scratch).network
        with Root(scratch, portals=[(ADDRESS, 3260)]) as root, \
                socket.create_server((ADDRESS, GATE)) as gate:
            gate.settimeout(HANG)
            firmware = table(INITIATOR, f"{MACHINE}/24", MAC, VLAN, root.target.portals[0],
                             root.target.iqn)
            with Machine(scratch, pair=pair, words=words, command=COMMAND, firmware=firmware,
                         network=network, name=name) as machine:
                machine.wait_for(f"farblock: {says}")
                machine.wait_for("farroot login:")
                gate.accept()[0].close()
                ends_well(machine)
            root.check_clean()


KERNEL = "farblock.root=ibft", f".*root at {ADDRESS}:3260, LUN 0, is sd"
USER = "farblock.root=user:ibft", "/dev/.* is the disk of ibft"
SCENARIOS = {"kernel-initrd": (INITRD, *KERNEL), "kernel-dracut": (DRACUT, *KERNEL),
             "user-initrd": (INITRD, *USER), "user-dracut": (DRACUT, *USER)}


if __name__ == "__main__":
    sys.exit(main(lambda: each(sys.argv[1:], {name: partial(boots, name, *how)
                                              for name, how in SCENARIOS.items()})))
