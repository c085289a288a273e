# SPDX-License-Identifier: BSD-2-Clause
"""With CRC agreed on every FPDU's is right both ways, and a message may come in segments of any size."""

from iser import *


def test(daemon):
    for options in ({"crc": True}, {"segment": 48}, {"segment": 1000, "crc": True}):
        peer = daemon.session(kind=IserPeer, **options)
        check(bool(peer.reply_flags & iser_raw.CRC) == options.get("crc", False), "C is not echoed")
        data = pattern(16384, 3)
        peer.write_and_read_back(0, data, f"{options}: ")
        peer.close()


main(test)
