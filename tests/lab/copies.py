# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: farblockd copies no payload and grants no rights to its memory while data moves."""

import re

from data import direct_file
from farblock import Failure
from logins import MIB, no_complaint, ramdisk, round_trip, same
from place import rdma_device

GIB = 1 << 30
DISK, COMMAND = 64 * MIB, 16 * MIB  # the disk, in the guest's memory mostly; what dd writes at once
FOLDER = "/var/lib/copies"
# Settings of initiators that send no immediate data, which is copied once.
WITHOUT_IMMEDIATE = {"iser": {"node.session.iscsi.ImmediateData": "No"},
                     "srp": {"use_imm_data": "N"}}


def both_ways(lab, disk):
    """1 GiB of random bytes to the disk, again and again, and back; the last of it is compared."""
    lab.guest.run(f"""
        head -c {DISK} /dev/urandom >/tmp/big
        cd /sys/block/{disk[5:]}/queue && cat max_hw_sectors_kb >max_sectors_kb
        for i in $(seq {GIB // DISK}); do
            dd if=/tmp/big of={disk} bs={COMMAND} oflag=direct status=none || exit
        done
        for i in $(seq {GIB // DISK - 1}); do
            dd if={disk} of=/dev/null bs={COMMAND} iflag=direct status=none || exit
        done
        dd if={disk} bs={COMMAND} iflag=direct status=none | cmp - /tmp/big && rm /tmp/big""")


def no_copies(lab, make):
    """make: adds the storage object to a Config."""
    daemon, target, initiator = lab.serve(make, settings=WITHOUT_IMMEDIATE[lab.carrier])
    if "page cache" in daemon.log():
        raise Failure(f"the file is not served with O_DIRECT: {daemon.log()}")
    initiator.login(target)
    path, = daemon.rpc("stats.get")["storage_objects"]
    before, first = daemon.copied(), daemon.moved(path)
    both_ways(lab, initiator.disk())
    written, read = (now - then for now, then in zip(daemon.moved(path), first))
    if written < GIB or read < GIB:
        raise Failure(f"{path}: only {written} bytes written and {read} read")
    if daemon.copied() != before:
        raise Failure(f"{path}: {daemon.copied()} copies and bytes, before it {before}, for {written} "
                      f"bytes written and {read} read")
    no_complaint(initiator)


def zero_copies_ramdisk(lab):
    """1 GiB each way on a RAM disk, without immediate data, which is copied once: farblockd counts
    no copy of a payload."""
    no_copies(lab, lambda config, _scratch: config.ramdisk("ram", DISK))


def zero_copies_direct(lab):
    """The same on a file with O_DIRECT, on the guest's ext4."""
    lab.guest.run(f"rm -rf {FOLDER} && mkdir -p {FOLDER}")
    no_copies(lab, lambda config, _scratch: config.storage(
        "fileio", "direct", dev=f"{FOLDER}/direct", size=DISK, write_back=False, aio=False))


def zero_copies_cached(lab):
    """The same on a file through the page cache."""
    no_copies(lab, lambda config, scratch: config.fileio("cached", scratch.file("cached"), DISK,
                                                         write_back=True))


def zero_copies_block(lab):
    """The same on a loop device."""
    device = lab.guest.run(f"""
        rm -rf {FOLDER} && mkdir -p {FOLDER} && truncate -s {DISK} {FOLDER}/loop && modprobe loop &&
        losetup --find --show --direct-io=on {FOLDER}/loop""").strip()
    try:
        no_copies(lab, lambda config, _scratch: config.storage("block", "loop", dev=device))
    finally:  # it goes when the daemon does
        lab.guest.ask(f"losetup --detach {device}")


# Where the kernel registers a program's memory; its fifth argument is the access rights.
REGISTER = {"rxe": "rxe_reg_user_mr", "siw": "siw_reg_user_mr"}
REMOTE_WRITE, REMOTE = 2, 2 | 4 | 8  # any: writes, reads, atomic operations
TRACING = "/sys/kernel/tracing"
# An iWARP device cannot read into memory that its peer may not write.
ALLOWED = {"rxe": 0, "siw": REMOTE_WRITE}


def granted(lab):
    """The rights of each registration that the kernel has made for the daemon."""
    return [int(found, 16) for found in re.findall(
        r"access=(0x[0-9a-f]+)", lab.guest.run(f"cat {TRACING}/trace"))]


def remote_rights(lab):
    """Nothing that farblockd registers for a RAM disk, a file and its buffers may be reached by a
    peer, says the kernel; and what farblockd says of its registrations is true."""
    rdma_device(lab.guest, lab.device)
    lab.guest.run(f"""
        mountpoint -q {TRACING} || mount -t tracefs tracefs {TRACING}
        cd {TRACING} && echo >trace &&
        echo 'p:lab {REGISTER[lab.device]} access=%r8:x32' >kprobe_events &&
        echo 1 >events/kprobes/lab/enable""")
    try:
        daemon, target, initiator = lab.serve(ramdisk, direct_file)
        initiator.login(target)
        for lun in (0, 1):
            round_trip(lab, initiator.disk(lun), ("4k", "256k"))
        rights, told = granted(lab), daemon.rpc("session.list")[0]["remote_rights"]
    finally:
        lab.guest.ask(f"cd {TRACING} && echo 0 >events/kprobes/lab/enable; echo >kprobe_events")
    remote = [r for r in rights if r & REMOTE]
    if not rights or any(r & REMOTE & ~ALLOWED[lab.device] for r in remote):
        raise Failure(f"rights of the daemon's registrations: {[hex(r) for r in rights]}")
    same(told > 0, bool(remote), "whether remote_rights of the session are there")


SCENARIOS = [zero_copies_ramdisk, zero_copies_direct, zero_copies_cached, zero_copies_block,
             remote_rights]
