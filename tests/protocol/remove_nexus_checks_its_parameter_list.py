# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS with a parameter list that is cut off anywhere ends with PARAMETER LIST LENGTH
ERROR, one with a TransportID that names no port with INVALID FIELD IN PARAMETER LIST; neither removes
anything. A list of length 0, and one of unknown nexuses, is GOOD."""

from removal import *


def test(daemon):
    peer, second = iscsi(daemon), iscsi(daemon, isid="80aabb000002")
    port, tid = name_of(second)
    unknown = (port + 7, tid)
    whole = nexus_list((port, tid))
    for size in range(1, len(whole)):
        refused(peer, LENGTH_ERROR, whole[:size])
    refused(peer, LENGTH_ERROR, whole[:3] + bytes([whole[3] - 1]) + whole[4:])
    refused(peer, LENGTH_ERROR, whole + bytes(32768))
    device = struct.pack(">BxH", 5, 40) + second.initiator.encode().ljust(40, b"\0")
    for bad in (b"", tid[:-4], b"\x47" + tid[1:], tid + bytes(4), device):
        refused(peer, BAD_FIELD, nexus_list((port, tid), (port, bad)))
    refused(peer, BAD_FIELD, nexus_list(*[unknown] * 32, (port, tid)))
    check(len(daemon.sessions()) == 2, "a session is gone")
    peer.good(removal(b""))
    peer.good(removal(bytes(4)), out=bytes(4))
    remove(peer, *[unknown] * 31, (port, tid))
    second.expect_closed("after its nexus was removed")


main(test)
