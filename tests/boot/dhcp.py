#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Machines on a network with a DHCP server. dhcp: iPXE, which knows nothing but its own address, takes
root path, name and CHAP credentials from dnsmasq, whose lines are those that boot-info prints.
vlan: the target is in a VLAN, which iPXE's script enters and its table names. Each runs in a network
namespace of its own.

    dhcp.py [dhcp] [vlan]"""

import json
import os
import subprocess
import sys

import farblock_path  # noqa: F401
from farblock import Failure, Process, Scratch, Skip, check, main, program, run
from machine import INITIATOR, Machine
from target import SECRET, Root

ADDRESS = "10.77.0.1"
NETWORK = "tap,id=n0,ifname=tap0,script=no,downscript=no"
VLAN, VLAN_ADDRESS = 5, "10.77.5.1"
SETUP = f"""ip link set lo up && ip tuntap add tap0 mode tap && ip addr add {ADDRESS}/24 dev tap0 &&
ip link set tap0 up && ip link add link tap0 name tap0.{VLAN} type vlan id {VLAN} &&
ip addr add {VLAN_ADDRESS}/24 dev tap0.{VLAN} && ip link set tap0.{VLAN} up && exec "$@\""""
DNSMASQ = """port=0
interface=tap0
bind-interfaces
leasefile-ro
dhcp-range=10.77.0.100,10.77.0.199,255.255.255.0
"""
# The first network has the script alone, by TFTP.
VLAN_DNSMASQ = f"""interface=tap0.{VLAN}
dhcp-range=10.77.5.100,10.77.5.199,255.255.255.0
enable-tftp
dhcp-boot=vlan.ipxe
"""


def lines_of(root, part, transport="TCP"):
    """What boot-info prints under a title."""
    text = run([program("farblock"), "--socket", root.daemon.socket_path, "--json", "boot-info",
                f"{root.target.path}/luns/lun0", f"initiator={INITIATOR}"]).stdout
    ways = json.loads(text)["ways"]
    return next(way[part] for way in ways if way.get("transport", transport) == transport
                and part in way)


class Dnsmasq(Process):
    """The DHCP server of the network."""

    def __init__(self, scratch, lines):
        super().__init__(scratch, "dnsmasq")
        more = f"tftp-root={scratch.path}\n" + "\n".join(lines) + "\n"
        self.path = scratch.file("dnsmasq.conf", content=DNSMASQ + more)

    def start(self):
        self.spawn([program("dnsmasq"), "--keep-in-foreground", "--user=root", "--log-facility=-",
                    "--log-dhcp", f"--conf-file={self.path}", "--pid-file="])
        return self


def reaches_the_prompt(scratch, lines, address):
    """A machine whose firmware knows what DHCP says gets its root from the target at the address."""
    with Dnsmasq(scratch, lines) as server, \
            Machine(scratch, how="san", words="farblock.root=ibft", network=NETWORK,
                    name="dhcp") as machine:
        try:
            machine.wait_for("farroot login:")
        except Failure as why:
            raise Failure(f"{why}\n{server.log()[-2000:]}") from None
        check(machine.has(f"farblock: .*root at {address}:3260, LUN 0, is sd"),
              "another disk than that of farblock.root=")


def dhcp():
    with Scratch() as scratch, Root(scratch, chap="one-way", portals=[(ADDRESS, 3260)]) as root:
        lines = [line.replace('"SECRET"', f'"{SECRET}"') for line in lines_of(root, "dnsmasq")]
        check(any("encap:175,191" in line for line in lines), f"no secret in {lines}")
        reaches_the_prompt(scratch, lines, ADDRESS)


def vlan():
    with Scratch() as scratch, Root(scratch, portals=[(VLAN_ADDRESS, 3260)]) as root:
        script = (f"#!ipxe\nifclose net0\nvcreate --tag {VLAN} net0\ndhcp net0-{VLAN}\n"
                  f"set initiator-iqn {INITIATOR}\n"
                  f"sanboot iscsi:{VLAN_ADDRESS}::3260:0:{root.target.iqn}\n")
        scratch.file("vlan.ipxe", content=script)
        reaches_the_prompt(scratch, [VLAN_DNSMASQ], VLAN_ADDRESS)


SCENARIOS = {"dhcp": dhcp, "vlan": vlan}


def in_a_network(name):
    """In a network namespace of its own."""
    done = subprocess.run(["unshare", "--net", "sh", "-c", SETUP, "sh", sys.executable,
                           os.path.abspath(__file__), "inside", name], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failure(f"{name}: {done.stdout[-6000:]}")
    print(f"{name}: passed", flush=True)


def start():
    names = sys.argv[1:] or [*SCENARIOS]
    if names[0] == "inside":
        SCENARIOS[names[1]]()
        return 0
    if os.geteuid():
        raise Skip("a network namespace needs root")
    for name in names:
        in_a_network(name)
    return 0


if __name__ == "__main__":
    main(start)
