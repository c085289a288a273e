#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A machine on a network with a DHCP server: iPXE, which knows nothing but its own address, takes root
path, name and CHAP credentials from dnsmasq, whose lines are those that boot-info prints. In a network
namespace of its own."""

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
SETUP = f"""ip link set lo up && ip tuntap add tap0 mode tap && ip addr add {ADDRESS}/24 dev tap0 &&
ip link set tap0 up && exec "$@\""""
DNSMASQ = """port=0
interface=tap0
bind-interfaces
leasefile-ro
dhcp-range=10.77.0.100,10.77.0.199,255.255.255.0
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


def start():
    if sys.argv[1:] == ["inside"]:
        dhcp()
        return 0
    if os.geteuid():
        raise Skip("a network namespace needs root")
    done = subprocess.run(["unshare", "--net", "sh", "-c", SETUP, "sh", sys.executable,
                           os.path.abspath(__file__), "inside"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failure(f"dhcp: {done.stdout[-6000:]}")
    print("dhcp: passed", flush=True)
    return 0


if __name__ == "__main__":
    main(start)
