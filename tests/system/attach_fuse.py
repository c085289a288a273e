#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via fuse: a LUN as a loop device with a filesystem on it, while the target is killed,
while it is used, and after the process that held it was killed. Needs root."""

import hashlib
import os
import random
import subprocess
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import (SANITIZER, Config, Farblockd, Scratch, Skip, check, eventually, main,  # noqa: E402
                      run)

MIB = 1 << 20
SIZE = 64 * MIB


class Mount:
    """A filesystem's mount at an own directory."""

    def __init__(self, device, at):
        self.device, self.at = device, at
        os.makedirs(at, exist_ok=True)

    def __enter__(self):
        run(["mount", self.device, self.at])
        return self.at

    def __exit__(self, *_):
        run(["umount", self.at])


def attach(attachments, target, *words):
    return attachments.attach(target.url(), "--via", "fuse", "--name", "disk", *words)


def is_gone(attachments, device):
    check(attachments.list() == [], f"{attachments.list()}")
    left = sorted(os.listdir(attachments.run_dir))
    # .nexuses: of processes that were killed, or detached by force under a target that had gone
    kept = (".disk", ".lock", ".log", ".nexuses")
    check([f for f in left if not f.endswith(kept)] == [], f"left: {left}")
    log = attachments.log("disk")
    check(not SANITIZER.search(log), log)
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        check(os.path.dirname(attachments.run_dir) not in f.read(), "it is still mounted")
    files = run(["losetup", "-n", "-O", "BACK-FILE", "-a"]).stdout
    check(os.path.dirname(attachments.run_dir) not in files, f"{device}: {files}")


def sums(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def write_files(folder, seed, count=12):
    """Returns their sums; nothing of them need be on the disk yet."""
    made, data = {}, random.Random(seed)
    for i in range(count):
        content, name = data.randbytes(data.randrange(1, MIB)), f"{seed}-{i}"
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)
        made[name] = hashlib.sha256(content).hexdigest()
    return made


def the_device_is_the_disk(attachments, target):
    device = attach(attachments, target)
    status = attachments.one("disk")
    check(device.startswith("/dev/loop") and status["device"] == device, f"{device}: {status}")
    check(status["state"] == "attached" and status["bytes"] == SIZE, f"{status}")
    size = run(["blockdev", "--getsize64", "--getss", device]).stdout.split()
    check(size == [str(SIZE), "512"], f"{size}")
    file = f"{attachments.run_dir}/disk.d/disk"
    check(os.stat(file).st_size == SIZE and os.listdir(os.path.dirname(file)) == ["disk"], file)
    return device


def copying(source, at):
    return subprocess.Popen(["sh", "-c", 'cp "$0"/* "$1" && sync -f "$1"', source, at])


def copied(source, at):
    check(copying(source, at).wait() == 0, "cp")


def a_killed_target_is_waited_for(scratch, attachments, daemon, device, at):
    """Files are written while it is away."""
    sources = [scratch.file(f"source{i}") for i in range(3)]
    want = {}
    for i, source in enumerate(sources):
        os.mkdir(source)
        want |= write_files(source, i)
    run(["mkfs.ext4", "-q", device])
    with Mount(device, at):
        copied(sources[0], at)
        daemon.kill()
        # By another process: it may wait for the disk in the kernel.
        copy = copying(sources[1], at)
        eventually("the loss", lambda: attachments.one("disk")["state"] == "no-path")
        daemon.start()
        check(copy.wait() == 0, "cp")
        copied(sources[2], at)
    with Mount(device, at):
        check(sums(at) == want, "the files are not those that were written")
    run(["e2fsck", "-fn", device])


def holes_and_zeroes_read_as_zeroes(device):
    with open(device, "r+b", buffering=0) as f:
        f.write(b"\x5a" * MIB)
        os.fsync(f.fileno())
    for how in (["-z"], []):
        run(["blkdiscard", "-f", *how, "-o", "65536", "-l", "131072", device])
        with open(device, "rb", buffering=0) as f:
            data = f.read(MIB)
        check(data == b"\x5a" * 65536 + bytes(131072) + b"\x5a" * (MIB - 196608), f"{how}")


def a_used_device_is_not_detached(attachments, device, at):
    run(["mkfs.ext4", "-qF", device])
    with Mount(device, at):
        said = attachments.detach("disk", status=28)
        check(f"mounted at '{at}'" in said, said)
    with open(f"{attachments.run_dir}/disk.d/disk", "rb"):
        said = attachments.detach("disk", status=28)
        check("disk.d/disk: open in a program" in said, said)
    attachments.detach("disk")
    is_gone(attachments, device)


def a_signal_ends_a_mounted_disk_once_it_is_unmounted(attachments, target, at):
    """As a power-off does; what was written last is there."""
    device = attach(attachments, target)
    with Mount(device, at):
        pid = attachments.one("disk")["pid"]
        os.kill(pid, signal.SIGTERM)
        eventually("a refusal", lambda: "cannot detach" in attachments.log("disk"))
        want = write_files(at, 7)
        run(["sync", "-f", at])
    eventually("the end", lambda: not os.path.exists(f"/proc/{pid}"))
    log = attachments.log("disk")
    check(log.count("cannot detach") == 1 and f"mounted at '{at}'; it is detached as soon" in log, log)
    is_gone(attachments, device)
    device = attach(attachments, target)
    with Mount(device, at):
        check({n: s for n, s in sums(at).items() if n in want} == want, "the files are not there")
    attachments.detach("disk")
    is_gone(attachments, device)


def a_used_device_is_detached_by_force(attachments, target, at):
    device = attach(attachments, target)
    with Mount(device, at):
        attachments.detach("disk", "--force")
    eventually("the end of the loop device", lambda: not os.path.exists(
        f"/sys/block/{os.path.basename(device)}/loop"))
    is_gone(attachments, device)


def what_a_dead_process_left_is_cleared(attachments, target, at):
    device = attach(attachments, target)
    run(["mkfs.ext4", "-qF", device])
    with Mount(device, at):
        os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
        eventually("its end", lambda: attachments.one("disk")["state"] == "dead")
        for said in (attachments.attach(target.url(), "--via", "fuse", "--name", "disk", status=28),
                     attachments.detach("disk", status=28)):
            check("left by a process that has died" in said and f"mounted at '{at}'" in said, said)
    device = attach(attachments, target)
    run(["e2fsck", "-fp", device])
    attachments.detach("disk")
    is_gone(attachments, device)


def what_a_dead_process_left_is_detached(attachments, target, at):
    """Without force if it is unused."""
    for force in ([], ["--force"]):
        device = attach(attachments, target)
        run(["mkfs.ext4", "-qF", device])
        if force:
            run(["mount", device, at])
        os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
        eventually("its end", lambda: attachments.one("disk")["state"] == "dead")
        attachments.detach("disk", *force)
        if force:
            run(["umount", at])
        eventually("the end of the loop device", lambda name=os.path.basename(device):
                   not os.path.exists(f"/sys/block/{name}/loop"))
        is_gone(attachments, device)


def a_detach_has_an_end_while_the_target_is_away(attachments, daemon, target):
    """Without force it is refused, also by a signal; by force what waits fails."""
    device = attach(attachments, target)
    daemon.kill()
    with subprocess.Popen(["dd", f"if={device}", "of=/dev/null", "iflag=direct", "count=1"],
                          stderr=subprocess.PIPE) as reader:
        eventually("the loss", lambda: attachments.one("disk")["state"] == "no-path")
        said = attachments.detach("disk", status=28)
        check(f"{device}: opened by 'dd'" in said, said)
        for number in (signal.SIGTERM, signal.SIGINT):
            before = attachments.log("disk").count("cannot detach")
            os.kill(attachments.one("disk")["pid"], number)
            eventually("a refusal", lambda count=before:
                       attachments.log("disk").count("cannot detach") > count)
        check(attachments.one("disk")["state"] == "no-path", f"{attachments.one('disk')}")
        attachments.detach("disk", "--force")
        check(reader.wait() != 0, "the read succeeded")
    daemon.start()
    is_gone(attachments, device)


def a_mount_point_may_have_any_characters(scratch, attachments, target):
    """As /proc/self/mountinfo escapes; what a dead process left there is cleared."""
    place = scratch.file(" a\tplace\nwith \\040 odd, #names\u00f6 ")
    for leave in (["attach"], ["detach"]):
        device = attach(attachments, target, "--at", place)
        check(attachments.one("disk")["file"] == f"{place}/disk", f"{attachments.one('disk')}")
        os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
        eventually("its end", lambda: attachments.one("disk")["state"] == "dead")
        if leave == ["attach"]:
            device = attach(attachments, target, "--at", place)
        attachments.detach("disk")
        is_gone(attachments, device)
        check(not os.path.exists(place) or os.listdir(place) == [], "what is left")


def a_read_only_disk_is_one(scratch, attachments, target):
    place = scratch.file("place")
    os.mkdir(place)
    device = attach(attachments, target, "--read-only", "--at", place)
    check(run(["blockdev", "--getro", device]).stdout.strip() == "1", "it is writable")
    attachments.detach(device)
    check(os.listdir(place) == [], "the directory was not given back")
    with open(f"{place}/file", "wb"):
        pass
    said = attachments.attach(target.url(), "--via", "fuse", "--at", place, status=1)
    check("not empty" in said, said)


def a_disk_that_grows_makes_a_larger_device(scratch, attachments, config, target):
    """While the target is away; with blocks of 4 KiB."""
    def size():
        return run(["blockdev", "--getsize64", "--getss", device]).stdout.split()

    with Farblockd(scratch, config, "small"):
        device = attachments.attach(target.url(lun=1), "--via", "fuse", "--name", "disk")
        check(size() == [str(SIZE), "4096"], f"{size()}")
    config.storage_objects[1]["size"] = SIZE + MIB
    os.truncate(scratch.file("disk4k.img"), SIZE + MIB)
    with Farblockd(scratch, config, "large"):
        eventually("the new size", lambda: size() == [str(SIZE + MIB), "4096"])
        run(["dd", "if=/dev/zero", f"of={device}", "bs=4k", f"seek={SIZE // 4096}", "count=256",
             "oflag=direct"])
        attachments.detach("disk")
        is_gone(attachments, device)


def test():
    if os.geteuid() or not os.path.exists("/dev/fuse") or not os.path.exists("/dev/loop-control"):
        raise Skip("needs root, FUSE and loop devices")
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.fileio("disk", scratch.file("disk.img"), SIZE),
                                config.fileio("disk4k", scratch.file("disk4k.img"), SIZE,
                                              {"block_size": 4096})])
        at = scratch.file("mnt")
        with Farblockd(scratch, config) as daemon:
            device = the_device_is_the_disk(attachments, target)
            a_killed_target_is_waited_for(scratch, attachments, daemon, device, at)
            holes_and_zeroes_read_as_zeroes(device)
            a_used_device_is_not_detached(attachments, device, at)
            a_signal_ends_a_mounted_disk_once_it_is_unmounted(attachments, target, at)
            a_used_device_is_detached_by_force(attachments, target, at)
            what_a_dead_process_left_is_cleared(attachments, target, at)
            what_a_dead_process_left_is_detached(attachments, target, at)
            a_detach_has_an_end_while_the_target_is_away(attachments, daemon, target)
            a_mount_point_may_have_any_characters(scratch, attachments, target)
            a_read_only_disk_is_one(scratch, attachments, target)
        a_disk_that_grows_makes_a_larger_device(scratch, attachments, config, target)


main(test)
