# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: a LUN of farblockd beside it as a local device of the guest, by farblock-initiator's
disk and its carriers on ublk and nbd (attach.c), over TCP, and over iSER and SRP on rxe and siw."""

import os
import shlex

from data import thin_file
from farblock import BUILD
from faults import finish, load, sessions
from initiator_tool import INITIATOR_PORTS, NAME
from kernel import wait_until
from local_disks import Carrier, tree
from logins import MIB
from net import PORT

SCHEMES = {"tcp": "iscsi", "iser": "iser"}


def disk(config, scratch):
    """Without a cache: a daemon that is killed has lost nothing, and its disk is taken again."""
    return thin_file(config, scratch, size=256 * MIB, write_back=False)


class Attached(Carrier):
    """A LUN over the daemon's portals."""

    log = "/run/attach.log"

    def __init__(self, lab, via, urls):
        super().__init__(lab, via)
        option = ("--initiator-port", INITIATOR_PORTS[0]) if lab.fabric == "srpt" else \
            ("--initiator-name", NAME)
        provider = ("--provider", "verbs") if lab.device else ()
        self.words = shlex.join([*urls, *option, *provider])
        path = os.path.join(BUILD, "tests", "lab", "lab_attach")
        self.guest.run(f"cp /host{path} /run/")

    def command(self):
        return f"/run/lab_attach {self.via} {self.number or -1} {self.words}"


def url_of(lab, target, portal=0):
    if lab.fabric == "srpt":
        return target.url(0, portal)
    return f"{SCHEMES[lab.carrier]}://{lab.place.hosts[portal]}:{PORT}/{target.iqn}/0"


def attached(lab, via, portals=1):
    daemon, target = lab.target(disk, portals=[(host, PORT) for host in lab.place.hosts[:portals]])
    side = Attached(lab, via, [url_of(lab, target, portal) for portal in range(portals)])
    side.begin()
    return daemon, target, side


def used(lab, via):
    daemon, _, side = attached(lab, via)
    device = side.device
    lab.guest.run(f"modprobe ext4; mkfs.ext4 -q -F {device} && mount {device} /mnt")
    side.in_background("copy", tree(300))
    daemon.kill()
    daemon.start()
    side.finished("copy")
    lab.guest.run(f"rm -rf /tmp/tree; umount /mnt && e2fsck -fn {device}")
    load(lab, side, device)
    side.kill()
    side.begin()
    daemon.kill()
    daemon.start()
    wait_until(lambda: sessions(daemon), "the session is back")
    finish(side)
    side.end()


def ublk(lab):
    """ublk: files copied to ext4 and compared while the daemon is killed and restarted; fio verifies
    while the attaching process is killed and replaced, and the daemon again."""
    used(lab, "ublk")


def nbd(lab):
    """The same on the kernel's nbd."""
    used(lab, "nbd")


SCENARIOS = [ublk, nbd]
CHECK = [ublk, nbd]
