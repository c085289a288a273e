# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: a LUN of farblockd beside it as a local device of the guest, by farblock-initiator's
attach on ublk and nbd, over TCP, and over iSER and SRP on rxe and siw."""

import shlex

from data import thin_file
from faults import finish, load, sessions
from initiator_tool import GuestTool
from kernel import wait_until
from local_disks import Carrier, tree
from logins import MIB, same
from net import PORT

SCHEMES = {"tcp": "iscsi", "iser": "iser"}


def disk(config, scratch):
    """Without a cache: a daemon that is killed has lost nothing, and its disk is taken again."""
    return thin_file(config, scratch, size=256 * MIB, write_back=False)


class Attached(Carrier):
    """A LUN over the daemon's portals, by farblock-initiator attach."""

    log = "/run/attach.log"

    def __init__(self, lab, via, urls):
        super().__init__(lab, via)
        self.tool, self.urls = GuestTool(lab), urls

    def command(self):
        return self.tool.command(["attach", *self.urls, "--name", "lab", "--via", self.via,
                                  "--foreground"])

    def named(self):
        found = [line for line in self.lines() if line.startswith("/dev/")]
        return (found[0], "") if found else None

    def ask(self, *words):
        """Another command on attachments: its exit status and what it printed."""
        return self.guest.ask(shlex.join([self.tool.program, *words]))

    def detach(self):
        status, output = self.ask("detach", "lab")
        same((status, output.strip()), (0, ""), "detach")
        same(self.ended(), "0", self.guest.run(f"cat {self.log}"))


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
    same(side.ask("detach", "lab"), (1, f"farblock-initiator: {device}: mounted at '/mnt'\n"),
         "detach of a mounted device")
    side.finished("copy")
    lab.guest.run(f"rm -rf /tmp/tree; umount /mnt && e2fsck -fn {device}")
    load(lab, side, device)
    side.kill()
    side.begin()
    daemon.kill()
    daemon.start()
    wait_until(lambda: sessions(daemon), "the session is back")
    finish(side)
    side.detach()


def ublk(lab):
    """ublk: files copied to ext4 and compared while the daemon is killed and restarted; fio verifies
    while the attaching process is killed and replaced, and the daemon again."""
    used(lab, "ublk")


def nbd(lab):
    """The same on the kernel's nbd."""
    used(lab, "nbd")


def abandoned(lab, via):
    _, _, side = attached(lab, via)
    device = side.device
    side.kill()
    side.in_background("read", f"! dd if={device} bs=64k count=1 iflag=direct")
    sleeping = """awk '$2 == "(dd)" && $3 == "D"' /proc/[0-9]*/stat 2>/dev/null | grep ."""
    wait_until(lambda: lab.guest.ask(sleeping)[0] == 0, "a request waits")
    status, output = side.ask("detach", "lab")
    same((status, f"{device} needs a new one" in output), (1, True), output)
    same(side.ask("detach", "lab", "--force"), (0, ""), "detach --force")
    side.finished("read")
    same(side.ask("attached"), (0, ""), "what is attached")
    wait_until(lambda: lab.guest.ask(f"[ $(cat /sys/block/{device[5:]}/size || echo 0) = 0 ]")[0] == 0,
               "the device has gone")
    side.begin()
    side.detach()


def ublk_abandoned(lab):
    """A device whose process has died is not detached; by force it is deleted, the request that waits
    fails, and the disk is attached again."""
    abandoned(lab, "ublk")


def nbd_abandoned(lab):
    """The same on the kernel's nbd."""
    abandoned(lab, "nbd")


SCENARIOS = [ublk, nbd, ublk_abandoned, nbd_abandoned]
CHECK = [ublk, nbd]
