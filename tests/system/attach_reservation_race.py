#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts attach a disk at once with --fence reservation: one of them gets it, whole. Or the
target has no room for another key.

    attach_reservation_race.py loser   it takes its key away again, and leaves the other's
    attach_reservation_race.py winner  a key of the loser that it sees for a moment is not a host
                                       that has taken the disk
    attach_reservation_race.py full    the message says that there is no room, and where to look
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attach_late_write import Disk  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, eventually, main  # noqa: E402
from fence_target import Port  # noqa: E402
from hostile_target import PR_OUT  # noqa: E402
import iscsi_raw as raw  # noqa: E402

FOREIGN = 0xabc
LOOKS = 3  # at the keys, of which the last one does not show the other host's any more


def attach(attachments, port, status=0):
    return attachments.attach(port.address(), "--fence", "reservation", "--via", "socket",
                              "--name", "disk", status=status)


def loser(attachments, port):
    def other_comes_first():
        port.keys, port.holder = port.keys + [FOREIGN], FOREIGN

    port.on_reserve = other_comes_first
    said = attach(attachments, port, status=None)
    check("another host" in said and "0xabc" in said, said)
    check(port.keys == [FOREIGN], f"keys: {port.keys}")


def winner(attachments, port):
    disk = Disk(attachments, attach(attachments, port))
    before, read = port.reads_of_keys, port.read_reservations

    def leaves_meanwhile(action):
        if port.reads_of_keys == before + LOOKS - 1 and FOREIGN in port.keys:
            port.keys.remove(FOREIGN)
        return read(action)

    port.keys.append(FOREIGN)
    port.read_reservations = leaves_meanwhile
    port.reset()
    eventually("the looks", lambda: port.reads_of_keys >= before + LOOKS or
               attachments.one("disk")["state"] == "taken")
    disk.do("write -P 0x11 0 4k")
    state = attachments.one("disk")["state"]
    check(state == "attached", state)
    attachments.detach("disk")
    check(not port.keys, f"keys: {port.keys}")


def full(attachments, port):
    no_room = bytes((0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x55, 4, 0, 0, 0, 0))
    port.answers[PR_OUT] = lambda request: [raw.Pdu(
        raw.RESPONSE, itt=request.itt, status=raw.CHECK,
        data=len(no_room).to_bytes(2, "big") + no_room)]
    said = attach(attachments, port, status=None)
    check("no room for another key" in said and "reserve URL report" in said, said)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        globals()[sys.argv[1]](attachments, Port())


if __name__ == "__main__":
    main(test)
