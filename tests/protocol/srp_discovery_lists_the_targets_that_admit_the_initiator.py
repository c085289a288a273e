# SPDX-License-Identifier: BSD-2-Clause
"""The list has the enabled targets with an ACL for the initiator, by its identifier, its GUID or its
address, and their portals; it is no session."""

from srp import *

STRANGER = "ib.0002c903000c00010002c903000c0002"
ACLS = ([farblock.SRP_INITIATOR], ["0002:c903:000c:0002"], ["127.0.0.3"], [OTHER, STRANGER])


def adapt(config, _):
    for target, acls in zip(config.targets, ACLS):
        group, = target["tpgs"]
        group["node_acls"] = [{**group["node_acls"][0], "node_wwn": name} for name in acls]
    config.targets[4]["tpgs"][0]["enable"] = False


def test(daemon):
    every = [daemon.target, *daemon.others]
    for initiator, source, admitting in ((farblock.SRP_INITIATOR, "127.0.0.1", (0,)),
                                         (STRANGER, "127.0.0.1", (1, 3)),
                                         (OTHER, "127.0.0.3", (2, 3)),
                                         ("ib." + "7" * 32, "127.0.0.1", ())):
        want = {every[i].iqn: [f"127.0.0.1:{every[i].port}"] for i in admitting}
        found = daemon.discovery(initiator=initiator, source=source).targets()
        check(found == want, f"{initiator} from {source}: {found}, not {want}")
    check(not daemon.sessions(), f"{daemon.sessions()}")
    check(not daemon.refusals(), f"{daemon.refusals()}")
    daemon.session()


main(test, targets=5, adapt=adapt)
