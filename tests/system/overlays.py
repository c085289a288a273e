#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Many disks over one image: ten overlays at once, restart, reset, an image that changed, and
clones on a file system that has them.

    overlays.py [CASE...]
"""

import contextlib
import hashlib
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
import overlay  # noqa: E402
from farblock import Shell, check, run  # noqa: E402

MIB = 1 << 20
SIZE, DISKS, BLOCK = 16 * MIB, 10, 512
MEDIUM_CHANGED = (0x28, 0x00)


def image(scratch, name="golden.img", size=SIZE):
    return scratch.file(name, content=random.Random(name).randbytes(size))


def checksum(path):
    with open(path, "rb") as content:
        return hashlib.sha256(content.read()).hexdigest()


def session_at(url, isid=1):
    session = iscsi.Session(url, isid=isid)
    session.ready()
    return session


def read(session, at, size):
    command = session.run(iscsi.read16(at // BLOCK, size // BLOCK), read_len=size)
    check(command.is_good, f"read at {at}: {command.sense.hex()}")
    return bytes(command.data_in)


def write(session, at, data):
    command = session.run(iscsi.write16(at // BLOCK, len(data) // BLOCK), data)
    check(command.is_good, f"write at {at}: {command.sense.hex()}")


def content(session, size=SIZE):
    return b"".join(read(session, at, MIB) for at in range(0, size, MIB))


def overlays(scratch, config, base, count, **keys):
    """Storage objects over the base, with their files."""
    paths = [scratch.file(f"m{i}.ov") for i in range(count)]
    for path in paths:
        overlay.make(path, base)
    return [config.storage("fileio", f"m{i}", dev=path, base=base, overlay="map", **keys)
            for i, path in enumerate(paths)]


@contextlib.contextmanager
def served(scratch, base, count=1, name="farblockd", **keys):
    config = farblock.Config()
    target = config.target(overlays(scratch, config, base, count, **keys))
    with farblock.Farblockd(scratch, config, name) as daemon:
        yield daemon, target


def random_writes(sessions, models, dice, count):
    """At all disks at once, whole blocks of 4 KiB and parts of them."""
    for _ in range(count):
        for session, model in zip(sessions, models):
            size = dice.choice([512, 1024, 4096, 20480, 65536])
            at = dice.randrange((SIZE - size) // BLOCK) * BLOCK
            data = dice.randbytes(size)
            session.submit(iscsi.write16(at // BLOCK, size // BLOCK), data)
            model[at:at + size] = data
        for session in sessions:
            command = session.wait()
            check(command.is_good, f"write: {command.sense.hex()}")


def ten_overlays_share_an_image(scratch):
    base, dice = image(scratch), random.Random(10)
    before = checksum(base)
    with open(base, "rb") as golden:
        want = golden.read()
    models = [bytearray(want) for _ in range(DISKS)]
    with served(scratch, base, DISKS, cache="none") as (daemon, target):
        sessions = [session_at(target.url(lun), lun + 1) for lun in range(DISKS)]
        random_writes(sessions, models, dice, 60)
        for session, model in zip(sessions, models):
            check(content(session) == model, "a disk differs")
        daemon.stop()
        daemon.start()
        sessions = [session_at(target.url(lun), lun + 1) for lun in range(DISKS)]
        random_writes(sessions, models, dice, 20)
        for session, model in zip(sessions, models):
            check(content(session) == model, "a disk differs after the restart")
            session.logout()
        daemon.stop()
    check(checksum(base) == before, "the image has changed")
    used = [os.stat(scratch.file(f"m{i}.ov")).st_blocks * 512 for i in range(DISKS)]
    check(max(used) < SIZE // 2, f"the overlays use {used} bytes")


def sense_of(command):
    return (command.sense[12], command.sense[13]) if len(command.sense) > 13 else None


def attentions(session):
    """What the unit reports until it is ready."""
    codes = []
    while True:
        session.submit(bytes(6))  # TEST UNIT READY, once: run() takes the attentions
        command = session.wait()
        if command.is_good:
            return codes
        codes.append(sense_of(command))


def reset_is_refused_in_use_and_forced_with_an_attention(scratch):
    base = image(scratch)
    with served(scratch, base) as (daemon, target), open(base, "rb") as golden:
        shell, session, want = Shell(daemon), session_at(target.url()), golden.read()
        write(session, 0, bytes(MIB))
        shell("/backstores/fileio/m0", "reset", status=5,
              text="m0: in use by iqn.2025-01.org.farblock:test from 127.0.0.1")
        check(read(session, 0, MIB) == bytes(MIB), "a refused reset changes the disk")
        shell("/backstores/fileio/m0", "reset", "force=true", text="m0 is as its base")
        farblock.eventually("MEDIUM MAY HAVE CHANGED",
                            lambda: MEDIUM_CHANGED in attentions(session))
        check(content(session) == want, "the disk is not as its image")
        write(session, MIB, bytes(4096))
        check(attentions(session) == [], "the attention is reported again")
        session.logout()
        shell("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        other = session_at(target.url())
        check(content(other) == want, "the second reset changed nothing")
        other.logout()
        daemon.stop()


def reset_is_refused_while_an_idle_session_sees_the_disk(scratch):
    """As after a restart of farblockd: the machine has mounted it, and has read nothing since."""
    with served(scratch, image(scratch)) as (daemon, target):
        shell, session = Shell(daemon), session_at(target.url())
        shell("/backstores/fileio/m0", "reset", status=5, text="m0: in use by iqn.2025-01.org.farblock:test")
        session.logout()
        shell("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        daemon.stop()


def reset_asks_before_data_is_lost_and_undo_tells_that_it_is(scratch):
    base = image(scratch)
    with served(scratch, base) as (daemon, target), open(base, "rb") as golden:
        shell, session = Shell(daemon), session_at(target.url())
        write(session, 0, bytes(MIB))
        session.logout()
        shell("/backstores/fileio/m0", "reset", status=8, text="confirm=true")
        session = session_at(target.url())
        check(read(session, 0, MIB) == bytes(MIB), "a reset without confirmation changes the disk")
        session.logout()
        shell("/backstores/null", "create", "n0", "1M")
        shell("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        shell("undo", "2", text="Note: undo does not bring back what reset has discarded: "
                                "/backstores/fileio/m0")
        check("n0" not in shell("ls", "/backstores"), "the change before the reset is not undone")
        session = session_at(target.url())
        check(content(session) == golden.read(), "the disk is not as its image")
        session.logout()
        daemon.stop()


def a_reset_survives_a_kill(scratch):
    base = image(scratch)
    with served(scratch, base) as (daemon, target), open(base, "rb") as golden:
        session = session_at(target.url())
        write(session, 0, bytes(MIB))
        session.logout()
        Shell(daemon)("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        daemon.kill()
        daemon.start()
        session = session_at(target.url())
        check(content(session) == golden.read(), "the disk is not as its image")
        session.logout()
        check(not os.path.exists(scratch.file("m0.ov.reset")), "a file is left")
        daemon.stop()


def a_reset_makes_a_removed_overlay_again(scratch):
    base = image(scratch)
    with served(scratch, base, 2) as (daemon, target), open(base, "rb") as golden:
        os.unlink(scratch.file("m1.ov"))
        Shell(daemon)("/backstores/fileio/m1", "reset", "confirm=true", text="m1 is as its base")
        daemon.stop()
        os.unlink(scratch.file("m0.ov"))
        daemon.start()
        shell = Shell(daemon)
        shell("ls", "/backstores/fileio", text="waiting: fileio m0")
        shell("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        want = golden.read()
        for lun in range(2):
            session = session_at(target.url(lun), lun + 1)
            check(content(session) == want, "a disk is not as its image")
            session.logout()
        daemon.stop()


def a_changed_image_is_refused_until_it_is_restored_or_the_disk_is_reset(scratch):
    base = image(scratch)
    times = os.stat(base).st_atime_ns, os.stat(base).st_mtime_ns
    with served(scratch, base, 2) as (daemon, target):
        daemon.stop()
        with open(base, "r+b") as out:
            out.seek(8 * MIB)
            old = out.read(4096)
            out.seek(8 * MIB)
            out.write(bytes(4096))
        daemon.start()
        shell = Shell(daemon)
        shell("ls", "/backstores/fileio", text="waiting: fileio m0: base " + base)
        shell("/backstores/fileio/m1", "reset", "confirm=true", text="m1 is as its base")
        session = iscsi.Session(target.url(1))
        session.ready()
        check(read(session, 8 * MIB, 4096) == bytes(4096), "the reset disk has the old image")
        session.logout()
        daemon.stop()
        with open(base, "r+b") as out:
            out.seek(8 * MIB)
            out.write(old)
        os.utime(base, ns=times)
        daemon.start()
        session = session_at(target.url(0))
        check(read(session, 8 * MIB, 4096) == old, "the restored image is not read")
        session.logout()
        daemon.stop()


def an_image_that_appears_later_is_used_then(scratch):
    base = image(scratch)
    with served(scratch, base) as (daemon, target):
        daemon.stop()
        os.rename(base, base + ".away")
        daemon.start()
        Shell(daemon)("ls", "/backstores/fileio", text="No such file or directory")
        os.rename(base + ".away", base)
        session = session_at(target.url())
        check(len(content(session)) == SIZE, "the disk is not there")
        session.logout()
        daemon.stop()


@contextlib.contextmanager
def reflinks(scratch):
    """A new XFS with reflinks; its mount point."""
    if os.getuid():
        raise farblock.Skip("only root can mount a file system")
    disk, mount = scratch.file("xfs.img", size=320 * MIB), scratch.file("xfs")
    os.mkdir(mount)
    run(["mkfs.xfs", "-q", "-m", "reflink=1", disk])
    done = run(["mount", "-o", "loop", disk, mount], check=False)
    if done.returncode:
        raise farblock.Skip(f"no XFS here: {done.stdout.strip()}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=True)


def clones_where_the_file_system_has_them(scratch):
    with reflinks(scratch) as mount, farblock.Farblockd(scratch, farblock.Config()) as daemon:
        base, file = image(scratch), os.path.join(mount, "m0.img")
        golden = os.path.join(mount, "golden.img")
        with open(base, "rb") as source, open(golden, "wb") as out:
            want = source.read()
            out.write(want)
        os.sync()
        before, shell = os.statvfs(mount).f_bfree, Shell(daemon)
        shell("/backstores/fileio", "create", "m0", file, "20M", f"base={golden}")
        used = (before - os.statvfs(mount).f_bfree) * os.statvfs(mount).f_bsize
        check(used < MIB, f"the clone takes {used} bytes")
        shell("ls", "/backstores/fileio", text=f"clone of {golden}")
        info = json.loads(shell("--json", "/backstores/fileio/m0", "info"))
        check('"overlay": "clone"' in json.dumps(info), f"{info}")
        with open(file, "rb") as clone:
            check(clone.read() == want + bytes(4 * MIB), "the clone differs from the image")
        shell("/backstores/fileio", "create", "m1", os.path.join(mount, "m1.ov"),
              f"base={golden}", "overlay=map")
        shell("ls", "/backstores/fileio", text=f"overlay of {golden}")
        port = farblock.free_port()
        iqn = f"{farblock.IQN}:clones"
        target = farblock.Target(iqn, [("127.0.0.1", port)])
        shell("set", "global", "auto_add_default_portal=false")
        shell("/iscsi", "create", iqn)
        shell(f"/iscsi/{iqn}/tpg1", "set", "attribute", "authentication=0",
              "generate_node_acls=1", "demo_mode_write_protect=0")
        shell(f"/iscsi/{iqn}/tpg1/portals", "create", "127.0.0.1", str(port))
        shell(f"/iscsi/{iqn}/tpg1/luns", "create", "/backstores/fileio/m0")
        session = session_at(target.url())
        write(session, 0, overlay.MAGIC.ljust(MIB, b"x"))  # which does not make it an overlay file
        session.logout()
        daemon.stop()
        daemon.start()
        session = session_at(target.url())
        check(read(session, 0, MIB)[:8] == overlay.MAGIC, "the clone lost a write")
        session.logout()
        shell("/backstores/fileio/m0", "reset", "confirm=true", text="m0 is as its base")
        session = session_at(target.url())
        check(content(session, 20 * MIB) == want + bytes(4 * MIB), "the clone was not reset")
        session.logout()
        daemon.stop()
        check(checksum(golden) == checksum(base), "the image has changed")


CASES = [ten_overlays_share_an_image, reset_is_refused_in_use_and_forced_with_an_attention,
         reset_is_refused_while_an_idle_session_sees_the_disk,
         reset_asks_before_data_is_lost_and_undo_tells_that_it_is, a_reset_survives_a_kill, a_reset_makes_a_removed_overlay_again,
         a_changed_image_is_refused_until_it_is_restored_or_the_disk_is_reset,
         an_image_that_appears_later_is_used_then, clones_where_the_file_system_has_them]


def main():
    wanted = sys.argv[1:]
    for case in CASES:
        if not wanted or case.__name__ in wanted:
            with farblock.Scratch() as scratch:
                case(scratch)
            print(f"{case.__name__}: passed", flush=True)
    return 0


if __name__ == "__main__":
    farblock.main(main)
