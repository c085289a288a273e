# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS reaches the SRP nexus of another GUID that the ACL of an address admits, when both
ACLs have the same host; and it does so for live sessions as soon as the host is set."""

from removal import *

ADDRESS = "127.0.0.1"
OTHER_GUID = "ib.0002c903000a00990002c903000a0077"


def test(daemon):
    peer, old = daemon.session(Srp), daemon.session(Srp, initiator=OTHER_GUID)
    name = name_of(old, OTHER_GUID)
    acls = daemon.tpg_path() + "/acls"
    refused(peer, BAD_FIELD, nexus_list(name))
    daemon.set(f"{acls}/{ADDRESS}", "attribute", host="web")
    refused(peer, BAD_FIELD, nexus_list(name))
    daemon.set(f"{acls}/{farblock.SRP_INITIATOR}", "attribute", host="web")
    remove(peer, name)
    old.expect_closed("after its nexus was removed")


main(test, acls=(farblock.SRP_INITIATOR, ADDRESS))
