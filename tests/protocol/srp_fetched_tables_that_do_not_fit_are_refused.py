# SPDX-License-Identifier: BSD-2-Clause
"""A table that was fetched and whose descriptors do not add up to the command's data is refused
with code 2: none of it is used."""

from srp import *


def spoilt(peer, data, length):
    """The same with another length in the table in memory."""
    data.table.data[12:16] = length.to_bytes(4, "big")
    return data


def test(daemon):
    peer = daemon.session()
    for length in (0, 4095, 4097, 0x80000000, 0xffffffff):
        iu = peer.read_into(spoilt(peer, peer.indirect([bytes(4096)] * 2, True, 0), length))
        peer.refused(iu, f"{length:#x}")
        check(iu.data_in.written == 0, "data-in by a table that does not fit")
        reads = peer.reads
        peer.refused(peer.write_from(spoilt(peer, peer.indirect([bytes(4096)] * 2, in_iu=0),
                                            length)))
        check(peer.reads - reads == 1, "data-out by a table that does not fit")
    peer.expect_alive()


main(test)
