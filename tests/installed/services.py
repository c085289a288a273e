#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblockd is restarted, stopped, upgraded and removed on a machine that has attached its disk."""

import re

from machine import URL, Machine, check_needs, package, packages, with_version
from farblock import Scratch, check, eventually, main


def still_attached(machine, device):
    """Listed, alive, for one writer, and written."""
    text = machine("farblock-initiator attached")
    check(re.match(rf"data  {device}  fuse  ", text), f"attached: {text}")
    eventually("its path", lambda: "\n  up " in machine("farblock-initiator attached"))
    text = machine(f"farblock-initiator attach {URL} --via socket --name second", status=28)
    check("attached on this machine already" in text, text)
    machine("date >/mnt/date && sync -f /mnt/date")


def a_restart_keeps_attachments(machine, device):
    machine("systemctl restart farblockd")
    still_attached(machine, device)


def a_stop_and_start_keep_attachments(machine, device):
    machine("systemctl stop farblockd\nsystemctl start farblockd")
    still_attached(machine, device)


def an_upgrade_keeps_attachments(machine, device, *later):
    machine("head -c 8M /dev/urandom >/mnt/file\nsha256sum /mnt/file >/root/sum")
    writer = machine("sh -c 'while dd if=/dev/zero of=/mnt/log bs=4k count=64 conv=fsync; do :; done' "
                     ">/dev/null 2>&1 & echo $!")
    before = machine("farblock-initiator attached --json | grep '\"pid\"'")
    said = machine.install(*later)
    machine(f"kill {writer}")  # and so no write has failed
    still_attached(machine, device)
    check(machine("farblock-initiator attached --json | grep '\"pid\"'") == before,
          f"another process has the disk: {said}")
    text = machine("sha256sum -c /root/sum 2>&1", status=None)
    check(text == "/mnt/file: OK", text)


def a_removed_run_directory_does_not_admit_a_second_writer(machine, _):
    machine("rm -rf /run/farblock-initiator/*.* /run/farblock-initiator /run/farblock/attach", status=None)
    text = machine(f"farblock-initiator attach {URL} --via socket --name second", status=28)
    check("attached on this machine already" in text, text)


def a_lost_attachment_is_listed_and_detached(machine, _):
    text = machine("farblock-initiator attached")
    check(text.startswith("data  lost: process "), text)
    machine("umount /mnt\nfarblock-initiator detach data")
    check(not machine("farblock-initiator attached"), "attached still")


def purging_the_target_keeps_entries(machine):
    entry = f"{machine.entries()}/data.conf"
    before = machine(f"cat {entry}")
    machine("systemctl stop farblock-attach@data\ndpkg --purge farblock")
    check(machine(f"cat {entry}", status=None) == before, "the entry is gone")


def run_all():
    check_needs()
    with Scratch() as scratch, Machine(scratch) as machine:
        folder = packages(scratch)
        target, initiator = package(folder, "farblock"), package(folder, "farblock-initiator")
        machine.boot()
        machine.install(target, initiator)
        machine.serve()
        device = machine.attach()
        a_restart_keeps_attachments(machine, device)
        a_stop_and_start_keep_attachments(machine, device)
        an_upgrade_keeps_attachments(machine, device, with_version(target, "9.0", scratch))
        an_upgrade_keeps_attachments(machine, device, with_version(initiator, "9.1", scratch))
        an_upgrade_keeps_attachments(machine, device, with_version(target, "9.2", scratch),
                                     with_version(initiator, "9.3", scratch))
        a_removed_run_directory_does_not_admit_a_second_writer(machine, device)
        a_lost_attachment_is_listed_and_detached(machine, device)
        purging_the_target_keeps_entries(machine)


main(run_all)
