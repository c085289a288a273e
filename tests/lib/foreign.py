# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator at a target of another project (peers.py): logins, and its LUN as a loop device
by attach --via fuse with filesystems, a target that restarts and paths that are cut."""

import os
import subprocess

from attachment import Attachments
from farblock import SANITIZER, Failure, Scratch, Skip, check, eventually, program, run
from relay import Relay

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


class Load:
    """fio, which writes at random places and verifies every block, round after round until end(): a
    write that is lost, or lands after a later one, shows. Another process than the test's: it
    waits in the kernel while the target is away."""

    ROUND = ("--name=load --direct=1 --ioengine=libaio --iodepth=16 --rw=randwrite --bs=16k "
             "--size=16M --io_size=8M --rate_iops=400 --norandommap --serialize_overlap=1 "
             "--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 --minimal")

    def __init__(self, scratch, disk):
        self.disk, self.stop, self.log = disk, scratch.file("stop"), scratch.file("load.log")
        if os.path.exists(self.stop):
            os.unlink(self.stop)
        script = f"""until [ -e "$0" ]; do
            {program("fio")} --filename={disk.device} --randseed=$RANDOM {self.ROUND} || exit
            done"""
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["bash", "-c", script, self.stop], stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)
        self.goes_on()

    def goes_on(self):
        """Returns when more has been written."""
        before = self.disk.written()
        eventually("more writes", lambda: self.disk.written() > before + 2000 or self.is_over())
        if self.is_over():
            raise Failure(f"the load ended: {self.said()}")

    def is_over(self):
        return self.process.poll() is not None

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-2000:]

    def end(self):
        with open(self.stop, "wb"):
            pass
        check(self.process.wait() == 0, f"fio: {self.process.returncode}: {self.said()}")


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


def restarts_under_load(scratch, attachments, peer):
    """Killed, at once and after some time started again: no error, every block verified."""
    disk = Disk(attachments, peer, [peer.url])
    load = Load(scratch, disk)
    for _ in range(3):
        peer.kill()
        eventually("the loss", lambda: disk.status()["state"] == "no-path")
        peer.start()
        load.goes_on()
    load.end()
    disk.detach()


def paths_are_cut(scratch, attachments, peer):
    """Two paths, each cut in turn, by an end of its connections and without a word, and restored."""
    with Relay(peer.port) as one, Relay(peer.port) as two:
        urls = [peer.url.replace(f":{peer.port}/", f":{relay.port}/") for relay in (one, two)]
        disk = Disk(attachments, peer, urls)
        eventually("both paths", lambda: disk.paths() == ["up", "up"])
        load = Load(scratch, disk)
        for relay, cut in ((one, one.cut), (two, two.cut), (one, one.cut_silently),
                           (two, two.cut_silently)):
            cut()
            eventually("the loss", lambda: sorted(disk.paths())[1] == "up" != sorted(disk.paths())[0])
            load.goes_on()
            relay.restore()
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
                restarts_under_load(scratch, attachments, peer)
                paths_are_cut(scratch, attachments, peer)
        except Failure as why:
            told = attachments.log("disk") if os.path.exists(attachments.run_dir) else ""
            raise Failure(f"{why}\n{told[-3000:]}\n{peer.log()[-3000:]}") from None
