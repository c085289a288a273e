# SPDX-License-Identifier: BSD-2-Clause
"""A key said twice in one request is a protocol error, known or not (RFC 7143 6.2), in discovery as
in a normal session; the session goes on."""

from protocol import *


def rejected(peer, keys):
    peer.send(peer.request(TEXT, data=text(keys), ttt=NONE, immediate=True))
    peer.expect(REJECT, f"to {keys[:3]}", reason=4)


def test(daemon):
    for discovery in (True, False):
        peer = daemon.connect().login(discovery=discovery)
        for keys in ([("SendTargets", "All")] * 2, [("SendTargets", "All")] * 128,
                     [("SendTargets", "All"), ("X-a", "1"), ("SendTargets", "")],
                     [("X-a", "1"), ("X-a", "2")]):
            rejected(peer, keys)
        answer, _ = peer.texts({"SendTargets": "All"})
        check(daemon.target.iqn.encode() in answer, f"{answer}")
        peer.logout()


main(test)
