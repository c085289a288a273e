# SPDX-License-Identifier: BSD-2-Clause
"""An ACL names an initiator by its port identifier, by the GUID of that, or by the address; the
first of these that there is decides what the initiator sees."""

from srp import *

GUID_NAME = "0002:c903:000a:0002"  # of SRP_INITIATOR


def acls(config, _):
    for acl, luns in zip(config.targets[0]["tpgs"][0]["node_acls"], (3, 2, 1)):
        del acl["mapped_luns"][luns:]


def luns_of(peer):
    iu = peer.send(peer.command(bytes((0xa0,)) + bytes(5) + struct.pack(">IH", 256, 0),
                                data_in=peer.direct(bytes(256), True)))
    peer.response(iu)
    return int.from_bytes(iu.data_in.bytes[:4], "big") // 8


def test(daemon):
    for name, count in ((farblock.SRP_INITIATOR, 3),
                        ("ib.ffffffffffffffff" + farblock.SRP_INITIATOR[-16:], 2), (OTHER, 1)):
        peer = daemon.session(initiator=name)
        check(luns_of(peer) == count, f"{name} sees {luns_of(peer)} LUNs, not {count}")
        peer.logout()


main(test, luns=3, acls=(farblock.SRP_INITIATOR, GUID_NAME, "127.0.0.1"), adapt=acls)
