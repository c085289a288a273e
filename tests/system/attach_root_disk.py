#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --root-disk: a process that nothing below the root can stop, and that starts again when it
dies. Needs root, as a root disk does."""

import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import (Config, Farblockd, Scratch, Skip, check, eventually, main, program,  # noqa: E402
                      run)

WORDS = ("--via", "socket", "--root-disk", "--name", "root")


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return int(f.read().rpartition(")")[2].split()[1])


def command_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read()


def process(attachments):
    return attachments.one("root")["pid"]


def both_are_marked(attachments):
    """systemd spares processes whose name begins with '@', at switch_root and at shutdown."""
    pid = process(attachments)
    for one in (pid, parent_of(pid)):
        check(command_of(one).startswith(b"@"), f"{one}: {command_of(one)}")


def goes_on(attachments, pid):
    eventually("another process", lambda: [a for a in attachments.list()
                                           if a["state"] == "attached" and a["pid"] != pid])
    run(["qemu-io", "-f", "raw", "-c", "write -P 5 0 64k", "-c", "read -P 5 0 64k",
         attachments.one("root")["device"]])


def a_second_one_leaves_the_log(attachments, target):
    log = os.path.join(attachments.run_dir, "root.log")
    with open(log, "a", encoding="utf-8") as out:
        out.write("a line\n")
    said = attachments.attach(target.url(), *WORDS, status=15)
    check("attached already" in said, said)
    check("a line" in attachments.log("root"), "the log is empty")


def one_that_dies_is_started_again(attachments):
    for _ in range(3):
        pid = process(attachments)
        os.kill(pid, signal.SIGKILL)
        goes_on(attachments, pid)


def also_when_the_target_is_away(attachments, daemon):
    daemon.kill()
    pid = process(attachments)
    os.kill(pid, signal.SIGKILL)
    eventually("a failed attempt", lambda: "refused" in attachments.log("root"))
    daemon.start()
    goes_on(attachments, pid)


def keeps_no_file_system_busy(scratch, attachments, target):
    """One that was mounted before: unmounted, its loop device is free again."""
    image, place = scratch.file("other.img", size=16 << 20), scratch.file("other")
    os.makedirs(place)
    run(["mkfs.ext4", "-q", "-F", image])
    run(["mount", "-o", "loop", image, place])
    try:
        attachments.attach(target.url(), *WORDS)
    finally:
        run(["umount", place])
    eventually("the loop device is free", lambda: not run(["losetup", "-j", image]).stdout)


def detached_in_order_both_end(attachments):
    pid = process(attachments)
    keeper = parent_of(pid)
    attachments.detach("root")
    eventually("the keeper's end", lambda: not os.path.exists(f"/proc/{keeper}"))
    check(not attachments.list(), "attached still")


def a_signal_to_the_keeper_detaches(attachments, target):
    attachments.attach(target.url(), *WORDS)
    keeper = parent_of(process(attachments))
    os.kill(keeper, signal.SIGTERM)
    eventually("the keeper's end", lambda: not os.path.exists(f"/proc/{keeper}"))
    check(not attachments.list(), "attached still")


def keeper_of(attachments):
    return parent_of(process(attachments))


def a_refused_signal_is_forgotten(attachments, target):
    """The disk is used: it goes on, and so does its keeper."""
    attachments.attach(target.url(), *WORDS)
    pid, keeper = process(attachments), keeper_of(attachments)
    with attachments.client("root") as client:
        for number in (signal.SIGTERM, signal.SIGINT):
            before = attachments.log("root").count("cannot detach")
            os.kill(keeper, number)
            eventually("a refusal", lambda count=before:
                       attachments.log("root").count("cannot detach") > count)
        os.kill(pid, signal.SIGKILL)
        client.communicate()
    goes_on(attachments, pid)
    check(keeper_of(attachments) == keeper, "another keeper")
    attachments.detach("root")


def a_hangup_is_ignored(attachments, target):
    attachments.attach(target.url(), *WORDS)
    pid = process(attachments)
    os.kill(keeper_of(attachments), signal.SIGHUP)
    os.kill(pid, signal.SIGKILL)
    goes_on(attachments, pid)
    attachments.detach("root")


def dies_while_the_target_is_away(attachments, daemon):
    """Returns the keeper, which tries in vain."""
    pid, keeper = process(attachments), keeper_of(attachments)
    daemon.kill()
    before = attachments.log("root").count("refused")
    os.kill(pid, signal.SIGKILL)
    eventually("a failed attempt", lambda: attachments.log("root").count("refused") > before)
    return keeper


def is_detached_while_dead(attachments, daemon, target, before=lambda: None, force=()):
    attachments.attach(target.url(), *WORDS)
    keeper = dies_while_the_target_is_away(attachments, daemon)
    try:
        before()
        attachments.detach("root", *force)
        eventually("the keeper's end", lambda: not os.path.exists(f"/proc/{keeper}"))
    finally:
        daemon.start()
    check(not attachments.list(), "attached still")


def a_dead_one_is_detached_for_good(attachments, daemon, target, *force):
    is_detached_while_dead(attachments, daemon, target, force=force)


def one_without_a_state_is_detached_for_good(attachments, daemon, target):
    """As the end of its device leaves it: nothing is listed, and its keeper tries."""
    is_detached_while_dead(attachments, daemon, target,
                           lambda: os.unlink(f"{attachments.run_dir}/root.json"))


def a_dead_ones_name_is_not_free(attachments, daemon, target):
    """Two would bring it back."""
    attachments.attach(target.url(), *WORDS)
    pid = process(attachments)
    dies_while_the_target_is_away(attachments, daemon)
    for words in (WORDS, ("--via", "socket", "--name", "root")):
        said = attachments.attach(target.url(), *words, status=15)
        check("attached already" in said, said)
    daemon.start()
    goes_on(attachments, pid)
    attachments.detach("root")


def one_that_is_dead_and_used_is_kept(scratch, attachments, target):
    """A detach and a signal are refused; force takes it away for good."""
    device = attachments.attach(target.url(), "--via", "fuse", *WORDS[2:])
    place = scratch.file("used")
    os.makedirs(place)
    run(["mkfs.ext4", "-qF", device])
    run(["mount", device, place])
    try:
        keeper = keeper_of(attachments)
        os.kill(process(attachments), signal.SIGKILL)
        eventually("its end", lambda: attachments.one("root")["state"] == "dead")
        said = attachments.detach("root", status=28)
        check(f"{device}: in use" in said, said)
        before = attachments.log("root").count("cannot detach")
        os.kill(keeper, signal.SIGTERM)
        eventually("a refusal", lambda: attachments.log("root").count("cannot detach") > before)
        check(os.path.exists(f"/proc/{keeper}"), "the keeper has ended")
        attachments.detach("root", "--force")
    finally:
        run(["umount", place])
    eventually("the keeper's end", lambda: not os.path.exists(f"/proc/{keeper}"))
    check(not attachments.list(), "attached still")


def one_that_cannot_begin_is_not_repeated(attachments, target):
    text = attachments.attach(target.url(lun=7), *WORDS, status=None)
    check(re.search("LUN 7|no LUN", text), text)
    check(not attachments.list(), "attached")


def another_root_takes_the_place_of_its_own(scratch, target):
    """As switch_root does: the directory of its state has another place in the new root, and the
    program, its libraries, /etc and the directories that something was mounted on have gone."""
    old = scratch.file("old")
    os.makedirs(f"{old}/run/farblock")
    script = f"""
        set -e
        mount --make-rprivate /
        # Other tests' file systems, which this view of mounts would keep busy.
        awk '$NF != "" {{ for (i = 1; i < NF; i++) if ($i == "-" && $(i + 2) ~ "^/dev/loop") print $5 }}' \\
            /proc/self/mountinfo | xargs -r umount -l
        mount -t tmpfs old {old}
        cd {old}
        mkdir -p bin lib lib64 usr dev proc sys run new etc
        mount --rbind /dev dev; mount -t proc proc proc; mount --rbind /sys sys
        mount -t tmpfs run run
        cp --parents $(ldd {program('farblock-initiator')} | grep -o '/[^ ]*') .
        cp {program('farblock-initiator')} bin/
        chroot . /bin/farblock-initiator attach {target.url()} {' '.join(WORDS)} --run-dir /run/fb
        pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' run/fb/root.json)
        rm -rf bin lib lib64 usr etc
        mount --move run /mnt
        umount -l dev proc sys
        rmdir dev proc sys run
        kill -9 $pid
        until [ "$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' /mnt/fb/root.json)" != "$pid" ]; do
            :
        done
        pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' /mnt/fb/root.json)
        test -c /proc/$pid/root/dev/null -a -d /proc/$pid/root/sys/class -a -d /proc/$pid/root/proc/self
        {program('farblock-initiator')} attached --run-dir /mnt/fb
        {program('farblock-initiator')} detach root --run-dir /mnt/fb
    """
    # In that root ThreadSanitizer's file of suppressions does not exist.
    env = {name: value for name, value in os.environ.items() if name != "TSAN_OPTIONS"}
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, check=False, env=env)
    check(done.returncode == 0, done.stdout)


def run_all():
    if os.geteuid():
        raise Skip("--root-disk needs root")
    for tool in ("qemu-io", "unshare", "mkfs.ext4", "losetup"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        path = scratch.file("disk.img", size=16 << 20)
        target = config.target([config.fileio("disk", path, 16 << 20)])
        with Farblockd(scratch, config) as daemon:
            keeps_no_file_system_busy(scratch, attachments, target)
            both_are_marked(attachments)
            a_second_one_leaves_the_log(attachments, target)
            one_that_dies_is_started_again(attachments)
            also_when_the_target_is_away(attachments, daemon)
            detached_in_order_both_end(attachments)
            a_signal_to_the_keeper_detaches(attachments, target)
            a_refused_signal_is_forgotten(attachments, target)
            a_hangup_is_ignored(attachments, target)
            a_dead_one_is_detached_for_good(attachments, daemon, target)
            a_dead_one_is_detached_for_good(attachments, daemon, target, "--force")
            one_without_a_state_is_detached_for_good(attachments, daemon, target)
            a_dead_ones_name_is_not_free(attachments, daemon, target)
            if os.path.exists("/dev/fuse") and os.path.exists("/dev/loop-control"):
                one_that_is_dead_and_used_is_kept(scratch, attachments, target)
            one_that_cannot_begin_is_not_repeated(attachments, target)
            another_root_takes_the_place_of_its_own(scratch, target)
    return 0


if __name__ == "__main__":
    main(run_all)
