# SPDX-License-Identifier: BSD-2-Clause
"""A LUN whose file is missing is not ready (04/01), over all transports: it is listed and tells who
it is. When the file appears, sessions learn of its size, and read it."""

from missing import *

PORT_GROUPS = struct.pack(">BB4xIxx", 0xa3, 0x0a, 64)
RESERVE_KEYS = struct.pack(">BB5xHx", 0x5e, 0, 64)
WRITE_SAME = struct.pack(">B9xI2x", 0x93, 1)


def medium_commands_fail(peer):
    for cdb, size, out in ((bytes(6), 0, b""), (b"\x25" + bytes(9), 8, b""),
                           (struct.pack(">BB8xIxx", 0x9e, 0x10, 32), 32, b""),
                           (struct.pack(">B6xHx", 0x28, 1), 512, b""),
                           (struct.pack(">B6xHx", 0x2a, 1), 0, bytes(512)),
                           (WRITE_SAME, 0, bytes(512)), (RESERVE_KEYS, 64, b"")):
        peer.fails(WAITING, cdb, size, out, unit=1)


def who(peer):
    return peer.inquiry(0x83, unit=1), peer.inquiry(0x80, unit=1), peer.inquiry(unit=1)[:36]


def test(daemon):
    peers = daemon.sessions_of_all()
    before = []
    for peer in peers:
        peer.fails((6, 0x29, 0), bytes(6), unit=1)  # power on
        medium_commands_fail(peer)
        check(peer.good(REPORT_LUNS, 64)[:4] == TWO_LUNS, f"{peer.name}: REPORT LUNS")
        check(peer.good(PORT_GROUPS, 64, unit=1)[3] >= 8, f"{peer.name}: no port group")
        sense = peer.good(struct.pack(">B3xBx", 3, 18), 18, unit=1)
        check((sense[2], sense[12], sense[13]) == WAITING, f"{peer.name}: {sense.hex()}")
        check(SERIAL.encode() in peer.inquiry(0x80, unit=1), f"{peer.name}: its serial number")
        before.append(who(peer))
    make_file(daemon.path)
    daemon.rpc("tree.run", command="refresh", path="/")
    for peer, known in zip(peers, before):
        peer.attention(0x2a, 0x09, unit=1)  # CAPACITY DATA HAS CHANGED
        peer.attention(0x3f, 0x03, unit=1)  # its limits
        check(who(peer) == known, f"{peer.name}: it is another one: {who(peer)} {known}")
        last = peer.good(b"\x25" + bytes(9), 8, unit=1)
        check(int.from_bytes(last[:4], "big") == SIZE // 512 - 1, f"{peer.name}: its size")
        peer.good(struct.pack(">B6xHx", 0x28, 1), 512, unit=1)
        check(peer.ask(bytes(6)).status == GOOD, f"{peer.name}: another LUN was told something")


main(test)
