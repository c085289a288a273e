#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""--fence reservation, over two portal groups.

    attach_reservation.py late      a write of a lost path comes too late and is refused
    attach_reservation.py killed    the successor of a killed process takes its registrations over
    attach_reservation.py foreign   a disk that another host has registered with is refused
    attach_reservation.py taken     one that another host takes later is written no more
"""

import json
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attach_late_write import Disk, Relay  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main, program, run  # noqa: E402


class World:
    def __init__(self, attachments, targets, relay):
        self.attachments = attachments
        self.urls = [f"iscsi://{relay.address}/{targets[0].iqn}/0", targets[1].url()]
        self.relay = relay

    def attach(self, status=0):
        return self.attachments.attach(*self.urls, "--fence", "reservation", "--policy",
                                       "round-robin", "--via", "socket", "--name", "disk",
                                       status=status)

    def disk(self):
        disk = Disk(self.attachments, self.attach())
        eventually("both paths", lambda: all(p["state"] == "up" for p in
                                             self.attachments.one("disk")["paths"]))
        return disk

    def reserve(self, *words):
        """As another host."""
        return run([program("farblock-initiator"), "reserve", self.urls[1], *words, "--json",
                    "--initiator-name", "iqn.2025-01.org.example:other"]).stdout

    def keys(self):
        return [r["key"] for r in json.loads(self.reserve("report"))["registrations"]]


def late(world):
    disk = world.disk()
    check(len(world.keys()) == 2, f"{world.keys()}")
    world.relay.do("hold")
    write = disk.write_by_the_first_path("write -P 0x11 0 4k")
    eventually("the write at the relay", lambda: world.relay.do("hold") > 4096)
    check(write.wait() == 0, "the write was not repeated")
    check(len(world.keys()) == 1, "the lost path was not preempted")
    disk.do("write -P 0x22 0 4k")
    world.relay.do("release")
    eventually("the first path's return", lambda: disk.path()["state"] == "up")
    said = disk.do("read -P 0x22 0 4k")
    check("verification" not in said, f"the late write took effect: {said}")
    check(len(world.keys()) == 2, "the first path has not registered again")
    world.attachments.detach("disk")
    check(not world.keys(), "keys are left")


def killed(world):
    world.disk()
    keys = world.keys()
    os.kill(world.attachments.one("disk")["pid"], signal.SIGKILL)
    disk = world.disk()
    check(sorted(world.keys()) == sorted(keys), f"{keys}, then {world.keys()}")
    disk.do("write -P 0x11 0 4k")
    world.attachments.detach("disk")
    check(not world.keys(), "keys are left")


def foreign(world):
    world.reserve("register-ignore", "--service-key", "0xabc")
    said = world.attach(status=None)
    check("0xabc" in said and "another host" in said, said)
    check(len(world.keys()) == 1, f"{world.keys()}")


def taken(world):
    disk = world.disk()
    keys = world.keys()
    world.reserve("register-ignore", "--service-key", "0xabc")
    for key in keys:
        world.reserve("preempt", "--key", "0xabc", "--service-key", key, "--type",
                      "wero")
    check(world.keys() == ["0xabc"], f"{world.keys()}")
    check("rror" in disk.begin("write -P 0x11 0 4k").communicate()[0], "it was written")
    eventually("its state", lambda: world.attachments.one("disk")["state"] == "taken")
    world.attachments.detach("disk")
    check(len(world.keys()) == 1, f"{world.keys()}")


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        ram = config.ramdisk("ram", 1 << 20)
        targets = config.target([ram]), config.target([ram])
        with Farblockd(scratch, config), Relay(targets[0].portals[0]) as relay:
            globals()[sys.argv[1]](World(attachments, targets, relay))


if __name__ == "__main__":
    main(test)
