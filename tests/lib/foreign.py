# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator at a target of another project (peers.py): logins, and its LUN as a loop device
by attach --via fuse with filesystems, a target that restarts and paths that are cut."""

import os

from attachment import Attachments
from cut_path import Path
from farblock import SANITIZER, Failure, Scratch, Skip, check, eventually, program, run
from fio_load import Load

MIB = 1 << 20
SIZE = 384 * MIB  # xfs wants 300
CHAP = ("alice", "secret-of-alice1", "bob", "secret-of-bob-12")
DIGESTS = ("--header-digest", "CRC32C", "--data-digest", "CRC32C")
FILESYSTEMS = {"ext4": ("-F", ["e2fsck", "-fn"]), "xfs": ("-f", ["xfs_repair", "-n"]),
               "btrfs": ("-f", ["btrfs", "check"])}


def tool(*words, status=0, secrets=()):
    """farblock-initiator to its end; returns what it printed, on both streams."""
    names = ("FARBLOCK_CHAP_SECRET", "FARBLOCK_CHAP_MUTUAL_SECRET")
    done = run(["farblock-initiator", *words], check=False,
               env={**os.environ, **dict(zip(names, secrets))})
    check(done.returncode == status, f"{words}: {done.returncode}, not {status}: {done.stdout}")
    return done.stdout


# ---- logins ----

def is_discovered(peer):
    found = tool("discover", f"127.0.0.1:{peer.port}").split("\n")
    check(f"127.0.0.1:{peer.port},1 {peer.iqn}" in found, f"{found}")


def has_digests(peer):
    """Each of them, and none."""
    for names in (("None", "None"), ("CRC32C", "None"), ("None", "CRC32C"), ("CRC32C", "CRC32C")):
        words = ("--header-digest", names[0], "--data-digest", names[1])
        said = tool("ping", peer.url, *words)
        check(f"digests: header {names[0]}, data {names[1]}" in said, f"{names}: {said}")
        tool("verify", peer.url, "--pattern", "1", "--force", "--bs", "16k", "--length", "4m", *words)


def needs_chap(peer):
    """peer.chap is CHAP."""
    user, secret, back, back_secret = CHAP
    both = ("--chap-user", user, "--chap-mutual-user", back)
    tool("ping", peer.url, *both, secrets=(secret, back_secret))
    refused = "login: refused by target: 0201"
    for words, secrets, text in (
            ((), (), refused), (both, ("not-" + secret, back_secret), refused),
            (both, (secret, "not-" + back_secret), "CHAP_R: wrong secret for user bob")):
        said = tool("ping", peer.url, *words, secrets=secrets, status=1)
        check(text in said, f"{words} {secrets}: {said}")


# ---- the disk ----

class Disk:
    """The LUN as a loop device, by paths to it. The peer keeps its file when it restarts: if it
    reports a write cache, the initiator has to be told so."""

    def __init__(self, attachments, peer, urls):
        keeps = ["--allow-replaced"] if peer.is_write_back else []
        self.attachments = attachments
        self.device = attachments.attach(*urls, "--via", "fuse", "--name", "disk", *DIGESTS, *keeps)

    def status(self):
        return self.attachments.one("disk")

    def paths(self):
        return [path["state"] for path in self.status()["paths"]]

    def detach(self):
        self.attachments.detach("disk")
        log = self.attachments.log("disk")
        check(not SANITIZER.search(log), log)

    def written(self):
        """Sectors, since it was made."""
        with open(f"/sys/block/{os.path.basename(self.device)}/stat", encoding="ascii") as file:
            return int(file.read().split()[6])

    def is_written(self, load):
        """Returns when the load has written more."""
        before = self.written()
        eventually("writes", lambda: load.is_going_on() and self.written() > before + 2000)


def has_filesystems(scratch, attachments, peer):
    """ext4, xfs and btrfs: files copied, compared after a new mount, and checked by their tools."""
    disk, at = Disk(attachments, peer, [peer.url]), scratch.file("mnt")
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.makedirs(at, exist_ok=True)
    for kind, (option, checker) in FILESYSTEMS.items():
        run([f"mkfs.{kind}", "-q", option, disk.device])
        for step in ("cp -a", "diff -r"):
            run(["mount", "-t", kind, disk.device, at])
            try:
                run(["sh", "-c", f'{step} "$0" "$1"', source, f"{at}/files"])
            finally:
                run(["umount", at])
        run([*checker, disk.device])
    disk.detach()


def restarts_under_load(attachments, peer):
    """Killed and started again: no error, every block verified."""
    disk = Disk(attachments, peer, [peer.url])
    with Scratch() as scratch:
        load = Load.of_device(scratch, disk.device)
        disk.is_written(load)
        for _ in range(3):
            peer.kill()
            eventually("the loss", lambda: disk.status()["state"] == "no-path")
            peer.start()
            disk.is_written(load)
        load.end()
    disk.detach()


def paths_are_cut(attachments, peer):
    """Two paths, each cut in turn, by an end of its connections and without a word, and restored."""
    ways = [Path(("127.0.0.1", peer.port)) for _ in range(2)]
    urls = [peer.url.replace(f":{peer.port}/", f":{way.address[1]}/") for way in ways]
    disk = Disk(attachments, peer, urls)
    eventually("both paths", lambda: disk.paths() == ["up", "up"])
    with Scratch() as scratch:
        load = Load.of_device(scratch, disk.device)
        for kind in ("reset", "silence"):
            for index, way in enumerate(ways):
                getattr(way, kind)()
                eventually("the loss", lambda: disk.paths()[index] != "up")
                check(disk.paths()[1 - index] == "up", f"{kind} {index}: {disk.status()}")
                disk.is_written(load)
                way.restore()
                eventually("both paths", lambda: disk.paths() == ["up", "up"])
        load.end()
    disk.detach()


def needs_devices():
    if os.geteuid() or not os.path.exists("/dev/fuse") or not os.path.exists("/dev/loop-control"):
        raise Skip("needs root, FUSE and loop devices")
    for name in ("fio", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"):
        program(name)


def logs_in(kind):
    """A test of the logins at a kind of peer: kind(scratch, size)."""
    with Scratch() as scratch:
        peer = kind(scratch, 64 * MIB)
        with peer:
            is_discovered(peer)
            has_digests(peer)
        peer.chap = CHAP
        with peer:
            is_discovered(peer)
            needs_chap(peer)


def is_attached(kind):
    """A test of the disk."""
    needs_devices()
    with Scratch() as scratch, Attachments(scratch) as attachments:
        peer = kind(scratch, SIZE)
        try:
            with peer:
                has_filesystems(scratch, attachments, peer)
                restarts_under_load(attachments, peer)
                paths_are_cut(attachments, peer)
        except Failure as why:
            told = attachments.log("disk") if os.path.exists(attachments.run_dir) else ""
            raise Failure(f"{why}\n{told[-3000:]}\n{peer.log()[-3000:]}") from None
