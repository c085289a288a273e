# SPDX-License-Identifier: BSD-2-Clause
"""InitialR2T is Yes over iSER, since data that is read costs no copy; with iser_unsolicited_data the
initiator's No stands, and Data-Outs of up to TargetRecvDataSegmentLength come before the rest is
read."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    check(peer.agreed["InitialR2T"] == "Yes", f"{peer.agreed}")
    daemon.set(daemon.tpg_path(), "attribute", iser_unsolicited_data=1)
    peer = daemon.session(kind=IserPeer)
    check(peer.agreed["InitialR2T"] == "No", f"{peer.agreed}")
    for size in (512, 8192, 16384, 65536, 131072):
        data = pattern(size, size)
        peer.write(0, data)
        check(peer.read(0, size // BLOCK) == data, f"{size} bytes differ")
    peer = daemon.session({"ImmediateData": "No"}, kind=IserPeer)
    peer.write(0, pattern(131072, 5))
    check(peer.read(0, 256) == pattern(131072, 5), "without immediate data")


main(test)
