# SPDX-License-Identifier: BSD-2-Clause
"""Over RDMA nothing holds back what a peer sends: Text Requests that come before the answer to an
earlier one are rejected (RFC 7143 11.10), and the session continues."""

from iser import *

REQUESTS = 6


def test(daemon):
    peer = daemon.connect(IserPeer).login(discovery=True)
    pdus = [peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE, immediate=True)
            for _ in range(REQUESTS)]
    daemon.pause()
    peer.send(*pdus)
    daemon.resume()
    for _ in range(REQUESTS - 1):
        peer.expect(REJECT, reason=4)
    peer.expect(TEXT_RSP, itt=pdus[0].itt)
    answer, _ = peer.texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, f"{answer}")
    peer.logout()


main(test)
