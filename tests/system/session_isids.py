#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Firmware and system log in with one name and different ISIDs: sessions tells them apart, and they do
not end each other; a login with the same ISID ends that session alone."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import iscsi  # noqa: E402
from farblock import Config, Farblockd, Scratch, Shell, check, eventually, main  # noqa: E402

HOST = "iqn.2025-03.net.example:machine"
IPXE, OPEN_ISCSI = "400027231234", "00023d000001"


def session(target, isid):
    """A login with this ISID, of 12 hex digits."""
    class Named(iscsi.Session):
        def send(self, pdu):
            if pdu.opcode == iscsi.LOGIN:
                pdu.h[8:14] = bytes.fromhex(isid)
            super().send(pdu)
    opened = Named(target.url(), initiator=HOST)
    opened.ready()
    return opened


def by_isid(daemon):
    return {s["isid"]: s for s in daemon.rpc("session.list")}


def is_alive(opened):
    return opened.run(bytes(6)).is_good  # TEST UNIT READY


def firmware_and_system_are_told_apart(shell, daemon, target):
    firmware, system = session(target, IPXE), session(target, OPEN_ISCSI)
    first = by_isid(daemon)
    check(first[IPXE]["isid_of"] == "iPXE" and first[OPEN_ISCSI]["isid_of"] == "open-iscsi", first)
    listed = shell("sessions")
    check(f"isid: {IPXE} (iPXE)" in listed and f"isid: {OPEN_ISCSI} (open-iscsi)" in listed, listed)
    check(f"isid: {IPXE} (iPXE)" in shell("sessions", "detail"), "detail")
    check(is_alive(firmware) and is_alive(system), "both are alive")
    again = session(target, OPEN_ISCSI)
    eventually("the old session of the system has ended",
               lambda: by_isid(daemon)[OPEN_ISCSI]["sid"] != first[OPEN_ISCSI]["sid"])
    check(by_isid(daemon)[IPXE]["sid"] == first[IPXE]["sid"], "the firmware's session was cut")
    check(is_alive(firmware) and is_alive(again), "the firmware's and the new one are alive")
    try:
        is_alive(system)
        check(False, "the old session of the system is alive")
    except (iscsi.Closed, OSError):
        pass
    ended = daemon.rpc("session.ended")
    check([e["sid"] for e in ended] == [first[OPEN_ISCSI]["sid"]], ended)
    for one in (firmware, again):
        one.logout()
    random = session(target, "80feedfeed01")
    check(by_isid(daemon)["80feedfeed01"]["isid_of"] == "random", "a random ISID")
    random.logout()
    print("sessions with both ISIDs live beside each other; the same ISID ends its own one")


def run_all():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("root", 1 << 20)])
        with Farblockd(scratch, config) as daemon:
            firmware_and_system_are_told_apart(Shell(daemon), daemon, target)
    return 0


if __name__ == "__main__":
    main(run_all)
