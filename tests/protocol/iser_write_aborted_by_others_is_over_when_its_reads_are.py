# SPDX-License-Identifier: BSD-2-Clause
"""CLEAR TASK SET, LOGICAL UNIT RESET and PREEMPT AND ABORT of one session, while an RDMA Read of
another's write is in flight: done when that is, so that nothing of the write lands in the disk
later; TASK ABORTED tells the other one no earlier either, since it takes its memory back then."""

from iser import *

ABORTED, KEY, OTHERS = 0x40, bytes(7) + b"\1", bytes(7) + b"\2"


def pr_out(peer, action, key, action_key, kind=0):
    data = key + action_key + bytes(8)
    return peer.task(struct.pack(">BBB2xIx", 0x5f, action, kind, len(data)), len(data), WRITE,
                     data=data)


def aborts(peer):
    """What aborts everything, and how it is answered."""
    yield lambda: peer.tmf(CLEAR_TASK_SET), {"opcode": TMF_RSP, "response": 0}
    yield lambda: peer.tmf(LU_RESET), {"opcode": TMF_RSP, "response": 0}
    yield lambda: pr_out(peer, 5, KEY, OTHERS, 1), {"opcode": RESPONSE, "status": GOOD}


def test(daemon):
    other = daemon.session(kind=IserPeer)
    for kind, isid in ((IserPeer, b"\x80\0\0\0\0\7"), (None, b"\x80\0\0\0\0\x08")):
        peer = daemon.session(kind=kind, isid=isid)
        for request, answer in aborts(peer):
            for each, key in ((peer, KEY), (other, OTHERS)):
                each.ready()
                each.good(pr_out(each, 6, bytes(8), key))
            peer.ready()
            peer.write(0, pattern(65536))
            written = other.held_write(7)
            pdu = peer.send(request())
            ping(peer)
            ping(other)
            other.holds_reads = False
            other.serve_reads()
            other.expect(RESPONSE, itt=written.itt, status=ABORTED)
            peer.expect(itt=pdu.itt, **answer)
            peer.ready()
            peer.write(0, pattern(65536, 3))
            ping(other)
            check(peer.read(0, 128) == pattern(65536, 3), "data of the aborted write came late")
            peer.good(pr_out(peer, 3, KEY, bytes(8)))
        peer.close()


main(test)
