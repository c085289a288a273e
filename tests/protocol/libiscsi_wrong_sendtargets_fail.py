# SPDX-License-Identifier: BSD-2-Clause
"""Wrong key, "Alle", "A" and wrong case are answered with Reject or NotUnderstood, never a list."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    for key, value in (("SendTarget", "All"), ("SendTargets", "Alle"), ("SendTargets", "A"),
                       ("sendtargets", "All"), ("SendTargets", "all")):
        answer, _ = peer.texts({key: value})
        check(pairs_of(answer) in ([(key, "Reject")], [(key, "NotUnderstood")]),
              f"{key}={value}: {answer}")


main(test)
