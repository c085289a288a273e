# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: a LUN of farblockd beside it as a local device of the guest, by farblock-initiator's
attach on ublk and nbd, over TCP, and over iSER and SRP on rxe and siw."""

import os
import shlex
import time

from data import thin_file
from farblock import Failure
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


def attached(lab, via, portals=1, made=disk):
    daemon, target = lab.target(made, portals=[(host, PORT) for host in lab.place.hosts[:portals]])
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
    same(side.ask("detach", "lab"), (28, f"farblock-initiator: {device}: mounted at '/mnt'\n"),
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


FILES, FOLDER_FILES = int(os.environ.get("FARBLOCK_LAB_FILES", "50000")), 500
# Once for a guest, as it takes minutes.
MAKE = f"""
    [ ! -e /tmp/files/done ] || exit 0
    mkdir -p /tmp/files/tree && cd /tmp/files/tree || exit
    awk 'BEGIN {{ for (i = 0; i < {FILES}; i++) {{
        if (i % {FOLDER_FILES} == 0) {{ d = "d" int(i / {FOLDER_FILES}); system("mkdir " d) }}
        f = d "/f" i; for (n = i % 7; n >= 0; n--) print i, n, i * n >f; close(f) }} }}' &&
        touch /tmp/files/done"""
# Folder by folder, of which /run/at counts those that are done.
EACH = """
    cd /tmp/files/tree || exit
    for d in *; do
        {} || exit
        echo $(($(cat /run/at) + 1)) >/run/at.new && mv /run/at.new /run/at
    done"""
COPY = EACH.format("cp -a $d /mnt/ && sync -f /mnt")
COMPARE = EACH.format("diff -r $d /mnt/$d")
LONG = 7200  # seconds that only end a hang, of 50,000 files in an emulated machine


def large_disk(config, scratch):
    return thin_file(config, scratch, size=384 * MIB, write_back=False)


def restarted(daemon):
    daemon.kill()
    daemon.start()


def replaced(side):
    side.kill()
    side.begin()


def under_way(side, name, script, faults):
    """Runs a script like COPY, with a fault after each share of its folders."""
    begin, folders = time.monotonic(), FILES // FOLDER_FILES
    side.guest.run("echo 0 >/run/at")
    side.in_background(name, script)
    for i, fault in enumerate(faults, 1):
        wait_until(lambda share=i: side.is_finished(name) or int(side.guest.run("cat /run/at")) >=
                   share * folders // (len(faults) + 1), f"{name}: a share of the folders", LONG)
        same(side.is_finished(name), False, f"{name} is over before its time")
        fault()
    wait_until(lambda: side.is_finished(name), f"{name} in the guest ends", LONG)
    side.finished(name)
    print(f"  {name}: {time.monotonic() - begin:.0f} s", flush=True)


def tree_on(lab, via):
    daemon, _, side = attached(lab, via, made=large_disk)
    mount = f"mount {side.device} /mnt"
    side.in_background("make", MAKE)
    wait_until(lambda: side.is_finished("make"), "the tree is made", LONG)
    side.finished("make")
    lab.guest.run(f"modprobe ext4; mkfs.ext4 -q -F {side.device} && {mount}")
    faults = (lambda: restarted(daemon), lambda: replaced(side))
    under_way(side, "copy", COPY, faults)
    lab.guest.run(f"umount /mnt && {mount}")  # its page cache goes
    under_way(side, "compare", COMPARE, faults)
    lab.guest.run(f"umount /mnt && e2fsck -fn {side.device}", LONG)
    for line in side.kernel_log().splitlines():
        if "I/O error" in line or "BUG" in line:
            raise Failure(f"the guest's kernel: {line.strip()}")
    side.detach()


def ublk_tree(lab):
    """ublk: 50,000 files are copied to ext4 and compared; in each the daemon is killed and restarted,
    then the attaching process killed and replaced."""
    tree_on(lab, "ublk")


def nbd_tree(lab):
    """The same on the kernel's nbd."""
    tree_on(lab, "nbd")


SCENARIOS = [ublk, nbd, ublk_abandoned, nbd_abandoned, ublk_tree, nbd_tree]
CHECK = [ublk, nbd]
