# SPDX-License-Identifier: BSD-2-Clause
"""A command whose tag another one has that is in flight is rejected as "task in progress"; its
CmdSN counts as not received, so that the next command with another tag may have it; the first
command ends as if nothing had been. A retry is dropped, and a tag may come again with the status."""

from protocol import *

IN_PROGRESS = 0x07


def rejected(peer, pdu):
    peer.send(pdu)
    got = peer.expect(REJECT, reason=IN_PROGRESS)
    check(got.data == bytes(pdu.bhs), "the Reject brings another header")


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "Yes"})
    first = peer.send(peer.write_task(0, 8, itt=0x77))
    r2t = peer.expect(R2T, itt=first.itt)
    peer.send(first)  # a retry: CmdSN and tag are known
    second = peer.write_task(8, 8, itt=0x77, data=pattern(4096, seed=2))
    rejected(peer, second)
    rejected(peer, peer.test_unit_ready(itt=0x77, cmd_sn=second.cmd_sn))
    rejected(peer, peer.test_unit_ready(itt=0x77, immediate=True))
    rejected(peer, peer.test_unit_ready(itt=0x77, cmd_sn=second.cmd_sn + 1))  # a gap before it
    peer.good(peer.test_unit_ready(itt=0x78, cmd_sn=second.cmd_sn))  # plugs the gap
    peer.send(*peer.solicited(r2t, pattern(4096)))
    peer.expect(RESPONSE, itt=first.itt, status=GOOD)
    check(peer.read(0, 16) == pattern(4096) + bytes(4096), "what was written differs")

    # Failed, with its status kept back while data is owed: in flight all the same.
    other = daemon.session({"InitialR2T": "No"}, isid=bytes.fromhex("80aabb000002"))
    failed = other.send(other.write_task(0x7ffffff0, 16, final=False, itt=0x99))
    rejected(other, other.test_unit_ready(itt=0x99, immediate=True))
    other.send(*other.data_out(failed, pattern(8192), 0))
    other.expect_status(failed.itt, CHECK)

    # The same tag for every command, each as soon as its predecessor's status is there.
    for n in range(2000):
        other.good(other.test_unit_ready(itt=0x99))
    check(daemon.counter("rejects_sent") == 5, "a tag that was free has been rejected")


main(test)
