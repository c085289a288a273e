# SPDX-License-Identifier: BSD-2-Clause
"""A write of a session that has ended is in the storage: overlapping commands of other sessions that
change the medium wait for it, on whichever worker and over whichever transport. The older write does
not come back over the newer one."""

from removal import *

UNMAP = struct.pack(">HHIQI4x", 22, 16, 0, 0, 1)
COMMANDS = {
    "WRITE(10)": (struct.pack(">BBIBHB", 0x2a, 0, 0, 0, 1, 0), NEW),
    "WRITE SAME(16)": (struct.pack(">BBQIBB", 0x93, 0, 0, 1, 0, 0), NEW),
    "WRITE ATOMIC(16)": (struct.pack(">BBQHHBB", 0x9c, 0, 0, 0, 1, 0, 0), NEW),
    "COMPARE AND WRITE": (struct.pack(">BBQ3xBBB", 0x89, 0, 0, 1, 0, 0), OLD + NEW),
    "WRITE AND VERIFY(10)": (struct.pack(">BBIBHB", 0x2e, 0, 0, 0, 1, 0), NEW),
    "UNMAP": (struct.pack(">BB5xHB", 0x42, 0, len(UNMAP), 0), UNMAP)}


def test(daemon):
    peers = iscsi(daemon), iscsi(daemon, Iser, "80aabb000003")
    for turn, (name, (cdb, data)) in enumerate(COMMANDS.items()):
        peer = peers[turn % 2]
        check(peer.write_block(0, bytes(512)) == GOOD, "not written")
        old = iscsi(daemon, isid="80aabb000002")
        keeps_writes(daemon)
        leave_write(daemon, old)
        keeps_writes(daemon, 0)
        end(daemon, old, is_dropped=turn % 3 == 2)
        peer.good(cdb, out=data)
        iscsi(daemon, isid="80aabb000002").logout()  # the old write has left the storage
        left = peer.read_block(0)
        wanted = bytes(512) if name == "UNMAP" else NEW
        check(left == wanted, f"{name}: the disk has {left[:4].hex()}, not {wanted[:4].hex()}")


main(test, storage={"emulate_tpu": 1, "atomic_write_kib": 4})
