# SPDX-License-Identifier: BSD-2-Clause
"""Any key in a login response that iscsid does not know ends its login: only what was offered is
answered, with TargetPortalGroupTag, TargetAlias and MaxRecvDataSegmentLength beside it."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.connect(Iscsid)
    peer.login()
    volunteered = set(peer.agreed) - set(peer.said)
    check(volunteered <= {"TargetPortalGroupTag", "TargetAlias"}, f"volunteered: {volunteered}")
    unanswered = set(peer.OPERATIONAL) - set(peer.agreed)
    check(not unanswered, f"not answered: {unanswered}")
    peer.ready().logout()


main(test)
