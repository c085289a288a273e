# SPDX-License-Identifier: BSD-2-Clause
"""A write into a RAM disk's memory whose data trickles in holds up another session's COMPARE AND
WRITE of the same blocks for a limited time only, although each byte puts off dataout_timeout."""

import select

from protocol import *

BLOCKS = 4096


def compare_and_write(peer):
    cdb = struct.pack(">BBQ3xBxx", 0x89, 0, 0, 1)
    return peer.task(cdb, edtl=2 * BLOCK, flags=WRITE, data=bytes(2 * BLOCK))


def trickle(peer, r2t, n):
    try:
        peer.send(Pdu(DATA_OUT, 0, bytes(BLOCK), lun=r2t.lun, itt=r2t.itt, ttt=r2t.ttt,
                      exp_stat_sn=peer.told_stat_sn, data_sn=n, offset=r2t.offset + BLOCK * n))
    except OSError:
        pass  # ended


def test(daemon):
    slow = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No", "MaxBurstLength": "1048576"},
                          isid=bytes.fromhex("80aabb000002"))
    other = daemon.session()
    pdu = slow.send(slow.write_task(0, BLOCKS))
    r2t = slow.expect(R2T, itt=pdu.itt)
    waiting = other.send(compare_and_write(other))
    for n in range(120):
        trickle(slow, r2t, n)
        if select.select([other.socket], [], [], 0.5)[0]:
            break
    other.expect(RESPONSE, itt=waiting.itt, status=GOOD)
    check("for blocks that it transfers" in daemon.log(), "nobody was ended for it")
    other.read(0, 8)


main(test, attributes={"nopin_timeout": 60})
