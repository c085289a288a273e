#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An orderly power-off of a machine with the target and a mounted disk that it has attached; the mount
has an order against the attachment, or none."""

from machine import Machine, check_needs, package, packages
from farblock import Scratch, check, main

# A power-off in order takes seconds. One that waits for a unit takes as long as its limit at least:
# 60 s of farblock-attach@, 90 s of others.
LIMIT = 55
# What systemd makes of a line of /etc/fstab with _netdev; in a container it ignores those of devices.
NETDEV = "[Mount]\nOptions=_netdev\n"
# ... and with _netdev,x-systemd.requires=farblock-attach@data.service.
REQUIRES = f"[Unit]\nRequires=farblock-attach@data.service\nAfter=farblock-attach@data.service\n{NETDEV}"
BY_HAND = None


def a_file_that_was_just_written_is_there_after(machine):
    machine("head -c 8M /dev/urandom >/mnt/file\nsha256sum /mnt/file >/root/sum")
    seconds = machine.power_off()
    print(f"power-off: {seconds:.1f} s", flush=True)
    machine.boot()
    machine.attach()
    text = machine("sha256sum -c /root/sum 2>&1", status=None)
    check(text == "/mnt/file: OK", f"after {seconds:.0f} s: {text}")
    check(seconds < LIMIT, f"the power-off took {seconds:.0f} s")


def mount(machine, unit):
    machine(f"umount /mnt\ncat >/etc/systemd/system/mnt.mount <<'END'\n{unit}END\n"
            "systemctl daemon-reload\nsystemctl start mnt.mount")


def run_all():
    check_needs()
    with Scratch() as scratch, Machine(scratch) as machine:
        folder = packages(scratch)
        machine.boot()
        machine.install(package(folder, "farblock"), package(folder, "farblock-initiator"))
        machine.serve()
        for unit in (NETDEV, REQUIRES, BY_HAND):
            device = machine.attach()
            if unit:
                mount(machine, f"{unit}What={device}\nWhere=/mnt\nType=ext4\n")
            a_file_that_was_just_written_is_there_after(machine)
            machine("umount /mnt\nsystemctl stop farblock-attach@data\n"
                    "rm -f /etc/systemd/system/mnt.mount\nsystemctl daemon-reload")


main(run_all)
