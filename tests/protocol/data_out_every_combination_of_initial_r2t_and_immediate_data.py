# SPDX-License-Identifier: BSD-2-Clause
"""Writes of many lengths, with each of the four combinations and small and large limits, end up
on the medium as sent."""

from protocol import *


def test(daemon):
    for initial in ("Yes", "No"):
        for immediate in ("Yes", "No"):
            for first, burst in ((512, 512), (4096, 8192), (65536, 262144), (65536, 65536)):
                peer = daemon.session({"InitialR2T": initial, "ImmediateData": immediate,
                                       "FirstBurstLength": str(first),
                                       "MaxBurstLength": str(burst)})
                for blocks in (1, 2, 7, 16, 129):
                    data = pattern(blocks * BLOCK, blocks + first)
                    r2ts = peer.write(blocks, data)
                    check(all(r.desired <= burst for r in r2ts), "an R2T above MaxBurstLength")
                    now, more = peer.unsolicited(data)
                    asked = sum(r.desired for r in r2ts)
                    check(asked == len(data) - now - more, f"{asked} bytes asked for")
                    check(peer.read(blocks, blocks) == data, f"{initial} {immediate} {first}")
                peer.close()


main(test)
