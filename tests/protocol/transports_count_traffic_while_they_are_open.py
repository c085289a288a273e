# SPDX-License-Identifier: BSD-2-Clause
"""What sessions of all transports move is in the statistics while they are open, not only after their
end."""

from transports import *

BLOCKS = 2048


def sent(daemon):
    stats = daemon.rpc("stats.get")
    return sum(stats[fabric]["bytes_sent"] for fabric in ("iscsi", "srpt") if fabric in stats)


def test(daemon):
    for peer in daemon.sessions_of_all():
        before = sent(daemon)
        peer.good(struct.pack(">BBIBHB", 0x28, 0, 0, 0, BLOCKS, 0), BLOCKS * 512)
        eventually(f"{peer.name}: what it was sent", lambda: sent(daemon) >= before + BLOCKS * 512)


main(test)
