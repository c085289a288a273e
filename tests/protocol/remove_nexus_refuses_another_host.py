# SPDX-License-Identifier: BSD-2-Clause
"""A nexus that an ACL with another host, an ACL without a host or no ACL admits is refused with
INVALID FIELD IN PARAMETER LIST, also by a session without a host."""

from removal import *
from protocol import acl

OTHER, NONE = "iqn.2025-01.org.example:other", "iqn.2025-01.org.example:none"


def hosts(config, _):
    config.targets[0]["tpgs"][0]["node_acls"][0]["attributes"] = {"host": "web"}
    config.targets[-1]["tpgs"][0].update(
        attributes={"authentication": 0, "generate_node_acls": 1, "demo_mode_write_protect": 0,
                    "nopin_timeout": 60},
        node_acls=[acl(OTHER, attributes={"host": "database"}), acl(NONE)])


def test(daemon):
    srp, other, without, demo = (daemon.session(Srp), iscsi(daemon, initiator=OTHER),
                                 iscsi(daemon, initiator=NONE), iscsi(daemon))
    for peer, victim in ((srp, other), (srp, without), (srp, demo), (other, srp), (without, srp),
                         (demo, srp), (without, other), (other, without), (demo, without)):
        refused(peer, BAD_FIELD, nexus_list(name_of(victim)))
    for alive in (srp, other, without, demo):
        alive.good(bytes(6))
    check(len(daemon.sessions()) == 4, "a session is gone")


main(test, adapt=hosts)
