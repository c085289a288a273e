# SPDX-License-Identifier: BSD-2-Clause
"""An iSCSI session removes the SRP nexus that an ACL with the same host admits, and the other way
round; it is answered when the write of that nexus has left the storage."""

from removal import *
from protocol import acl


def one_host(config, _):
    config.targets[0]["tpgs"][0]["node_acls"][0]["attributes"] = {"host": "web"}
    config.targets[-1]["tpgs"][0].update(
        attributes={"authentication": 0, "generate_node_acls": 0, "nopin_timeout": 60},
        node_acls=[acl(attributes={"host": "web"})])


def test(daemon):
    for turn, kind in enumerate((Srp, Tcp, Srp, Iser)):
        make = {Srp: lambda: daemon.session(Srp)}.get(kind, lambda kind=kind: iscsi(daemon, kind))
        peer, old = (iscsi(daemon), make()) if kind is Srp else (daemon.session(Srp), make())
        removes_with_its_write(daemon, peer, old, turn)
        peer.logout()


main(test, adapt=one_host)
