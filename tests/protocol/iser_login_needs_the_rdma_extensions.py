# SPDX-License-Identifier: BSD-2-Clause
"""A login over RDMA that does not agree on RDMAExtensions is refused; lengths are answered with the
smaller one, digests with None, and nothing that RDMA has no use for is declared."""

from iser import *


def test(daemon):
    peer = daemon.connect(IserPeer)
    keys = {k: v for k, v in peer.OPERATIONAL.items() if k != "RDMAExtensions"}
    peer.login_step({**peer.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    check(peer.login_request(keys).login_status >> 8 == 2, "let in without RDMAExtensions")
    peer = daemon.connect(IserPeer)
    peer.login({"HeaderDigest": "CRC32C,None", "TargetRecvDataSegmentLength": "65536"})
    want = {"RDMAExtensions": "Yes", "InitiatorRecvDataSegmentLength": "8192",
            "TargetRecvDataSegmentLength": "8192", "HeaderDigest": "None"}
    check({k: peer.agreed.get(k) for k in want} == want, f"{peer.agreed}")
    check("MaxRecvDataSegmentLength" not in peer.agreed, f"{peer.agreed}")


main(test)
