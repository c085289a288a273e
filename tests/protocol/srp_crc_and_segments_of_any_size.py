# SPDX-License-Identifier: BSD-2-Clause
"""SRP over software iWARP with and without CRC, IUs cut into segments of any size."""

from srp import *


def test(daemon):
    for options in ({"crc": True}, {"segment": 1}, {"segment": 37}, {"segment": 1000, "crc": True}):
        peer = daemon.session(**options)
        peer.response(peer.send(peer.write_from(peer.immediate(pattern(4096, 5)))))
        peer.write(8, pattern(65536, 6))
        check(peer.read(0, 136) == pattern(4096, 5) + pattern(65536, 6), f"{options}")
        peer.logout()


main(test)
