#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An orderly power-off of a machine with the target and a mounted disk that it has attached."""

from machine import Machine, check_needs, package, packages
from farblock import Scratch, check, main

# A power-off in order takes seconds. One that waits for a unit takes as long as its limit at least:
# 60 s of farblock-attach@, 90 s of others.
LIMIT = 55
# What systemd makes of a line of /etc/fstab with _netdev; in a container it ignores those of devices.
UNIT = "[Mount]\nOptions=_netdev\n"


def a_file_that_was_just_written_is_there_after(machine):
    machine("head -c 8M /dev/urandom >/mnt/file\nsha256sum /mnt/file >/root/sum")
    seconds = machine.power_off()
    print(f"power-off: {seconds:.1f} s")
    machine.boot()
    machine.attach()
    text = machine("sha256sum -c /root/sum 2>&1", status=None)
    check(text == "/mnt/file: OK", f"after {seconds:.0f} s: {text}")
    check(seconds < LIMIT, f"the power-off took {seconds:.0f} s")


def run_all():
    check_needs()
    with Scratch() as scratch, Machine(scratch) as machine:
        folder = packages(scratch)
        machine.boot()
        machine.install(package(folder, "farblock"), package(folder, "farblock-initiator"))
        machine.serve()
        device = machine.attach()
        unit = f"{UNIT}What={device}\nWhere=/mnt\nType=ext4\n"
        machine(f"umount /mnt\ncat >/etc/systemd/system/mnt.mount <<'END'\n{unit}END\n"
                "systemctl daemon-reload\nsystemctl start mnt.mount")
        a_file_that_was_just_written_is_there_after(machine)


main(run_all)
