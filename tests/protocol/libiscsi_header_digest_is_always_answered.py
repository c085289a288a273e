# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi keeps what it wanted where a digest key is not answered: each offer gets its answer,
whatever it is."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    for offer, answer in (("None,CRC32C", "None"), ("CRC32C,None", "CRC32C"),
                          ("CRC32C", "CRC32C"), ("None", "None")):
        peer = daemon.connect(Libiscsi)
        peer.login({"HeaderDigest": offer, "DataDigest": offer})
        for key in ("HeaderDigest", "DataDigest"):
            check(peer.agreed[key] == answer, f"{key}={offer} is answered {peer.agreed[key]}")
        peer.ready().close()


main(test)
