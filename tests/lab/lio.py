# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: farblock-initiator against the kernel's target (LIO with ib_isert) in the guest: from
this machine over software iWARP to siw, and in the guest over libibverbs, its kernel's rxe and siw.
What the initiator wrote is compared in the guest."""

import json
import os
import random

from farblock import Failure, Skip, run
from initiator_tool import GuestTool, Tool
from kernel import wait_until
from lio_target import (CONFIGFS, DISK, HOST, IQN, aborts as abort_count, commands, kernel_target,
                        sessions, there, url, wait_for_abort)
from logins import BACK_SECRET, BACK_USER, MIB, SECRET, USER, same
from net import PORT
from place import sha256_of


def initiator(lab):
    return GuestTool(lab) if lab.is_inside else Tool(lab)


def discovery(lab):
    """SendTargets over iSER shows LIO's target, and its answer works; the LUNs are there."""
    tool = initiator(lab)
    with kernel_target(lab):
        found = tool.run("discover", f"iser://{HOST}:{PORT}").split("\n")[:-1]
        if not any(line.startswith(f"{HOST}:{PORT},1 {IQN}") for line in found):
            raise Failure(f"discovered: {found}")
        told = json.loads(tool.run("ping", url(lab), "--json"))
        same(told["transport"], f"iSER ({tool.name})", "transport")
        luns = tool.run("luns", url(lab).rsplit("/", 1)[0])
        if "LIO-ORG" not in luns:
            raise Failure(f"luns: {luns}")


def chap(lab):
    """One-way and mutual CHAP; a wrong secret is refused, and a target that does not prove to
    know its own is left."""
    tool = initiator(lab)
    with kernel_target(lab):
        lab.guest.run(f"""
            cd {lab.lio.tpg}/auth && echo 1 >../attrib/authentication && echo -n {USER} >userid &&
            echo -n {SECRET} >password""")
        user, right = ("--chap-user", USER), {"FARBLOCK_CHAP_SECRET": SECRET}
        tool.run("ping", url(lab), *user, secrets=right)
        tool.run("ping", url(lab), *user, secrets={"FARBLOCK_CHAP_SECRET": "another-secret-x"},
                 status=1)
        lab.guest.run(f"cd {lab.lio.tpg}/auth && echo -n {BACK_USER} >userid_mutual && "
                      f"echo -n {BACK_SECRET} >password_mutual")
        user += ("--chap-mutual-user", BACK_USER)
        for back, status in ((BACK_SECRET, 0), ("yet-another-secret", 1)):
            tool.run("ping", url(lab), *user, status=status,
                     secrets={**right, "FARBLOCK_CHAP_MUTUAL_SECRET": back})


def fifty_logins(lab):
    """50 logins and logouts in a row leave nothing behind."""
    tool = initiator(lab)
    with kernel_target(lab):
        for _ in range(50):
            tool.run("ping", url(lab), "--count", "1")
        wait_until(lambda: not sessions(lab), "LIO has no session left")


def byte_for_byte(lab):
    """Writes of 512 bytes to 16 MiB arrive in the guest's device and are read back the same; so
    does a range at an odd sector, and patterns up to 16 MiB a command."""
    tool, source = initiator(lab), lab.scratch.file("source")
    with kernel_target(lab):
        for lun, bs, count in ((0, 512, 512), (0, 4096, 512), (0, 8704, 256), (0, 65536, 128),
                               (1, 131072, 64), (1, MIB, 32), (1, 4 * MIB, 8), (1, 16 * MIB, 2)):
            length = bs * count
            with open(source, "wb") as file:
                file.write(os.urandom(length))
            words = ("--bs", str(bs), "--offset", "0", "--length", str(length))
            tool.run("write", url(lab, lun), "--input", tool.source("source"), "--force", *words)
            wanted = sha256_of(source, length)
            if not lun:  # whose device takes no more than 124 KiB at once
                same(there(lab, length), wanted, f"the device after blocks of {bs}")
            tool.run("read", url(lab, lun), "--output", tool.back, *words)
            same(tool.sum_back(length), wanted, f"read in blocks of {bs}")
        for bs in (512, 8704, 65536, MIB, 16 * MIB):
            length = min(bs * 512, 32 * MIB)
            tool.run("verify", url(lab, 1), "--pattern", str(bs), "--bs", str(bs), "--offset", "3584",
                     "--length", str(length))


def filesystem(lab):
    """An ext4 written to LIO passes fsck there and its files are whole; what the guest then adds
    comes back over iSER and passes fsck at the initiator."""
    tool, image = initiator(lab), lab.scratch.file("fs.img", size=48 * MIB)
    run(["mkfs.ext4", "-q", "-d", os.path.dirname(os.path.abspath(__file__)), image])
    with kernel_target(lab):
        tool.run("write", url(lab), "--input", tool.source("fs.img"), "--force")
        lab.guest.run(f"{lab.lio.hide}; rm -f {lab.lio.tpg}/lun/lun_0/disk && rmdir {DISK}")
        lab.guest.run("""
            blockdev --flushbufs /dev/mapper/lio
            e2fsck -fn /dev/mapper/lio && mount /dev/mapper/lio /mnt || exit
            head -c 8M /dev/urandom >/mnt/more && sha256sum </mnt/more >/mnt/sum && sync &&
                umount /mnt""")
        lab.guest.run(f"""
            cd {CONFIGFS} && mkdir core/iblock_0/disk &&
            echo udev_path=/dev/mapper/lio >core/iblock_0/disk/control &&
            echo 1 >core/iblock_0/disk/enable && ln -s {DISK} {lab.lio.tpg}/lun/lun_0/ &&
            {lab.lio.show}""")
        tool.run("read", url(lab), "--output", tool.back, "--length", str(48 * MIB))
    tool.shell(f"""e2fsck -fn {tool.back} &&
        [ "$(debugfs -R 'cat more' {tool.back} 2>/dev/null | sha256sum)" = \
          "$(debugfs -R 'cat sum' {tool.back} 2>/dev/null)" ]""")


def verified(lab):
    """Blocks of several sizes, many commands at once, written and compared, while a second session
    does the same beside it; measured loads of each kind end without an error."""
    tool = initiator(lab)
    with kernel_target(lab):
        beside = tool.begin("verify", url(lab), "--pattern", "7", "--force", "--bs", "64k",
                            "--length", str(32 * MIB), port=1)
        for bs in ("4k", "16k", "128k"):
            tool.run("verify", url(lab, 1), "--pattern", bs[:-1], "--bs", bs, "--length", str(16 * MIB))
        beside.end()
        for op in ("randread", "read", "randwrite", "write"):
            tool.run("bench", url(lab, 1), "--op", op, "--time", "1", "--depth", "32")


STUCK = "target_wait_for_cmds"  # where LIO waits for a command that it has itself lost


def disable_and_enable(lab, pause):
    """False: LIO never comes back from ending the sessions, which the guest does not survive."""
    lab.guest.run(f"""
        rm -f /run/gone
        (echo 0 >{lab.lio.tpg}/enable; sleep {pause}; echo 1 >{lab.lio.tpg}/enable; echo >/run/gone) \
            >/dev/null 2>&1 </dev/null &""")
    try:
        wait_until(lambda: lab.guest.ask("[ -e /run/gone ]")[0] == 0, "LIO is back", 120)
    except Failure:
        if not is_stuck(lab):
            raise
        return False
    return True


def is_stuck(lab):
    return lab.guest.ask(f"grep -q {STUCK} /proc/[0-9]*/stack")[0] == 0


def new_guest(lab):
    lab.guest.kill()
    lab.guest.start()


def survives(lab, tool, pause):
    """A load while LIO is away for so long; every byte has to be right then. False: LIO hangs."""
    # What LIO says of the device's write cache does not matter here: it is not restarted.
    words = ("verify", url(lab), "--pattern", str(random.randrange(1 << 30)), "--force",
             "--allow-replaced", "--length", str(48 * MIB))
    before = commands(lab)
    load = tool.begin(*words, "--bs", "4k")
    wait_until(lambda: commands(lab) > before + 100 or load.is_over(), "commands")
    if load.is_over():
        raise Failure(f"the load was over before LIO went away: {load.end()}")
    if not disable_and_enable(lab, pause):
        load.abandon()
        new_guest(lab)
        return False
    load.end()
    tool.run(*words, "--check-only")
    return True


def target_gone(lab):
    """LIO's group disabled under load, which ends every session, and enabled again, at once, after 1
    and after 3 s: the initiator logs in again and every byte is right. It ends early where LIO waits
    for ever for a command of a session that it ends; if it does not come back because of that the
    first time, it is skipped."""
    tool = initiator(lab)
    with kernel_target(lab):
        for times, pause in enumerate((0, 1, 3)):
            if not survives(lab, tool, pause):
                if not times:
                    raise Skip(f"the guest's LIO hangs in {STUCK}")
                break
            try:
                wait_until(lambda: not is_stuck(lab), "LIO has ended its sessions", 60)
            except Failure:
                new_guest(lab)  # in this one nothing of LIO can be removed
                break


def aborts(lab):
    """A command whose device takes longer than the initiator waits is aborted with ABORT TASK,
    which LIO confirms; the session continues."""
    tool = initiator(lab)
    source = lab.scratch.file("source", content=os.urandom(65536))
    with kernel_target(lab):
        lab.guest.run("dmesg -C; dmsetup suspend --noflush --nolockfs lio")
        write = tool.begin("write", url(lab), "--input", tool.source("source"), "--force")
        wait_for_abort(lab)
        lab.guest.run("dmsetup resume lio")
        output = write.end(status=1)
        if "timed out" not in output.lower():
            raise Failure(f"a write that took too long: {output.strip()}")
        if not abort_count(lab):
            raise Failure("LIO has answered no ABORT TASK")
        tool.run("write", url(lab), "--input", tool.source("source"), "--force")
        same(there(lab, 65536), sha256_of(source, 65536), "the device afterwards")


REGISTERED = {"rxe": "rxe_reg_user_mr", "siw": "siw_reg_user_mr"}  # called for each registration
TRACING = "/sys/kernel/tracing"


def registrations(lab):
    """A measured load registers its memory once and nothing for each command: the kernel is asked
    as often for ten times as many commands."""
    tool = initiator(lab)
    with kernel_target(lab):
        lab.guest.run(f"""
            mountpoint -q {TRACING} || mount -t tracefs tracefs {TRACING}
            cd {TRACING} && echo 'p:lab {REGISTERED[lab.device]}' >kprobe_events &&
            echo 1 >events/kprobes/lab/enable""")
        try:
            counts = [bench_counted(lab, tool, seconds) for seconds in (1, 10)]
        finally:
            lab.guest.ask(f"""
                cd {TRACING} && echo 0 >events/kprobes/lab/enable; echo >kprobe_events""")
    (few, first), (many, second) = counts
    if first != second or many < 3 * few:
        raise Failure(f"{first} registrations with {few} commands, {second} with {many}")


def bench_counted(lab, tool, seconds):
    """How many commands a load of so many seconds had, and registrations."""
    hits = f"awk '$1 == \"lab\" {{print $2}}' {TRACING}/kprobe_profile"
    before = int(lab.guest.run(hits))
    told = json.loads(tool.run("bench", url(lab, 1), "--bs", "16k", "--json", "--time", str(seconds)))
    return int(told["iops"] * told["seconds"]), int(lab.guest.run(hits)) - before


SCENARIOS = [discovery, chap, fifty_logins, byte_for_byte, filesystem, verified, target_gone,
             aborts]
INSIDE = [*SCENARIOS, registrations]
INSIDE_SIW = [discovery, byte_for_byte, verified, target_gone, registrations]
SRP = [fifty_logins, byte_for_byte, filesystem, verified, target_gone, aborts]
SRP_INSIDE = [*SRP, registrations]
SRP_CHECK = [byte_for_byte, verified]
