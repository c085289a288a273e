# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that no ACL names is rejected with 00010003, and on record with its name."""

from srp import *

STRANGER = "ib.0002c903000c00010002c903000c0002"


def test(daemon):
    daemon.rejected(NO_PORT, initiator=STRANGER)
    check(any(r["initiator"] == STRANGER for r in daemon.refusals()), f"{daemon.refusals()}")
    daemon.session()
    daemon.session(initiator=OTHER)


main(test)
