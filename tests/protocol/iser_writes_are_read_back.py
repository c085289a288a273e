# SPDX-License-Identifier: BSD-2-Clause
"""What is written over iSER, from 512 bytes to 8 MiB, is read back over iSER and over TCP."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    tcp = daemon.session(isid=bytes.fromhex("80aabb000002"))
    for size in (512, 4096, 8192, 8704, 65536, 262144, MIB, 8 * MIB):
        data = pattern(size, size)
        peer.write(0, data)
        check(peer.read(0, size // BLOCK) == data, f"{size} bytes differ over iSER")
        if size <= MIB:
            check(tcp.read(0, size // BLOCK) == data, f"{size} bytes differ over TCP")
    check(peer.reads and peer.writes, "no RDMA was used")


main(test)
