# SPDX-License-Identifier: BSD-2-Clause
"""Which nexus a channel joins is decided by both whole port identifiers."""

from srp import *


def test(daemon):
    peers = [daemon.session()]
    half = "ib." + "7" * 16 + farblock.SRP_INITIATOR[-16:]
    second = daemon.others[0]
    for options in ({"initiator": OTHER}, {"initiator": half},
                    {"target": second.iqn, "through": second}):
        peers.append(daemon.connect(flags=MULTI, **options))
        check(peers[-1].accepted.rsp_flags & 3 == NO_CHANNEL, f"{options}: joined another")
    check(len(daemon.sessions()) == 4, f"{len(daemon.sessions())} sessions")


main(test, targets=2, acls=(farblock.SRP_INITIATOR, OTHER, "0002:c903:000a:0002"))
