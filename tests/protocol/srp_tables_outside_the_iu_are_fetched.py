# SPDX-License-Identifier: BSD-2-Clause
"""A table of which none or a part is in the IU is fetched by one RDMA Read, and serves like one
that is in the IU; 2048 descriptors, as Linux has at most, too."""

from srp import *


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


def test(daemon):
    peer = daemon.session()
    for count, in_iu in ((1, 0), (2, 0), (2, 1), (12, 4), (256, 255), (300, 1), (2048, 12)):
        size = count * BLOCK
        data = pattern(size, count)
        out = peer.indirect(pieces(data, BLOCK), in_iu=in_iu)
        peer.response(peer.send(peer.write_from(out)))
        check(peer.read(0, count) == data, f"{count}, {in_iu}: not what was written")
        room = peer.indirect(pieces(bytes(size), BLOCK), True, in_iu)
        reads = peer.reads
        iu = peer.send(peer.read_into(room))
        peer.response(iu)
        check(iu.data_in.bytes == data, f"{count}, {in_iu}: not what was read")
        check(peer.reads == reads + 1, f"{peer.reads - reads} RDMA Reads of a table")


main(test)
