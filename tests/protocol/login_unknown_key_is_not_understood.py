# SPDX-License-Identifier: BSD-2-Clause
"""A key the target does not know is answered NotUnderstood, and the login continues."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.login_step({**peer.names(), **peer.OPERATIONAL, "X-com.example.key": "5",
                           "Nonsense": "x"})
    check(rsp.keys["X-com.example.key"] == "NotUnderstood", f"{rsp.keys}")
    check(rsp.keys["Nonsense"] == "NotUnderstood", f"{rsp.keys}")
    peer.ready()


main(test)
