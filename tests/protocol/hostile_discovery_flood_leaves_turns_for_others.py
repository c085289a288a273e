# SPDX-License-Identifier: BSD-2-Clause
"""A peer that asks for all targets a thousand times at once is answered one request at a time: a
ping of another session is answered before most of these answers have been made, as the number of
PDUs shows that were sent when the peer leaves after that."""

from protocol import *

REQUESTS = 1000
BUFFERED = 500  # answers that the kernel may hold for a peer that does not read


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    peer = daemon.connect()
    peer.login(discovery=True)
    pdus = [peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE, immediate=True)
            for _ in range(REQUESTS)]
    daemon.pause()
    peer.send(*pdus)
    ping = other.send(other.request(NOP_OUT, immediate=True, ttt=NONE))
    daemon.resume()
    other.expect(NOP_IN, itt=ping.itt)
    peer.close()
    other.close()
    eventually("the sessions end", lambda: not daemon.sessions())
    sent = daemon.counter("pdus_sent")
    check(0 < sent < BUFFERED, f"{sent} PDUs were sent before a ping's answer and the peer's end")


main(test, targets=300, luns=1)
