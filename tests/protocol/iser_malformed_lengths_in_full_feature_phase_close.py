# SPDX-License-Identifier: BSD-2-Clause
"""In full feature phase a message whose lengths disagree, or with more data than this side takes,
ends its own connection only."""

from iser import *


def test(daemon):
    other = daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000009"))
    command = other.write_task(0, 8)
    head = iser_header()
    for raw in (head, head + bytes(47), head + bytes(command.bhs[:5]) + b"\0\1\0" +
                bytes(command.bhs[8:]) + bytes(255), head + bytes(command.bhs) + bytes(5),
                b"\x50" + head[1:] + bytes(command.bhs)):
        peer = daemon.session(kind=IserPeer)
        peer.send_bytes(peer.message(raw))
        peer.expect_closed()
    peer = daemon.session({"TargetRecvDataSegmentLength": "512"}, kind=IserPeer)
    peer.send(peer.write_task(0, 8, data=bytes(513)))
    peer.expect_closed("after 513 bytes where 512 were agreed on")
    other.cmd_sn -= 1
    other.good(other.test_unit_ready())


main(test)
