# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS of the own nexus, of another initiator's or of another protocol's is refused with
INVALID FIELD IN PARAMETER LIST, and removes nothing, also none that stands before it in the list."""

from removal import *
from protocol import acl

OTHER = "iqn.2025-01.org.example:other"


def both_initiators(config, _):
    for target in config.targets[1:]:
        target["tpgs"][0].update(attributes={"authentication": 0, "generate_node_acls": 0},
                                 node_acls=[acl(), acl(OTHER)])


def test(daemon):
    peer, second = iscsi(daemon), iscsi(daemon, isid="80aabb000002")
    other, srp = iscsi(daemon, initiator=OTHER), daemon.session(Srp)
    unknown = (peer.port(), transport_id(peer).replace(b"000001", b"0000ff"))
    for victim in (peer, other, srp):
        refused(peer, BAD_FIELD, nexus_list(name_of(second), name_of(victim)))
        refused(peer, BAD_FIELD, nexus_list(unknown, name_of(victim)))
    check(len(daemon.sessions()) == 4, "a session is gone")
    for alive in (peer, second, other, srp):
        alive.good(bytes(6))
    remove(peer, unknown, name_of(second))
    second.expect_closed("after its nexus was removed")
    check(len(daemon.sessions()) == 3, "another session is gone")


main(test, adapt=both_initiators)
