# SPDX-License-Identifier: BSD-2-Clause
"""A session that only sees a LUN, and asks what it is, does not keep it from being deleted; one
that has read or written it does."""

from protocol import *

INQUIRY, VPD = bytes([0x12, 0, 0, 0, 36, 0]), bytes([0x12, 1, 0x83, 0, 255, 0])
REPORT_LUNS = bytes([0xa0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
READ_CAPACITY_10 = bytes([0x25] + [0] * 9)
READ_CAPACITY_16 = bytes([0x9e, 0x10] + [0] * 11 + [32, 0, 0])
MODE_SENSE = bytes([0x1a, 0, 0x3f, 0, 255, 0])
ASKS = (INQUIRY, VPD, REPORT_LUNS, READ_CAPACITY_10, READ_CAPACITY_16, MODE_SENSE)


def look_at(peer, number):
    """What an initiator does to every LUN that it finds."""
    peer.lun = lun(number)
    peer.ready()
    for cdb in ASKS:
        pdu = peer.send(peer.task(cdb, 256, READ))
        peer.collect(pdu, 256)


def test(daemon):
    peer = daemon.session()
    for number in range(4):
        look_at(peer, number)
    peer.lun = lun(0)
    peer.write(0, pattern(BLOCK))
    peer.lun = lun(2)
    peer.read(0, 1)
    luns = f"{daemon.tpg_path()}/luns"
    daemon.delete(luns, lun="lun1")
    daemon.delete("/backstores/ramdisk", name="rd3")
    for number in (0, 2):
        daemon.refuse_delete(luns, lun=f"lun{number}")
        daemon.refuse_delete("/backstores/ramdisk", name=f"rd{number}")
    check(len(daemon.sessions()) == 1, "the session did not survive")
    peer.lun = lun(0)
    peer.ready()
    check(peer.read(0, 1) == pattern(BLOCK), "the LUN in use was disturbed")


main(test, luns=4)
