# SPDX-License-Identifier: BSD-2-Clause
"""RFC 7143 6.3: a Login Request after the login is a protocol error."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    peer.send(peer.login_pdu(peer.names()))
    peer.expect_closed("on a Login Request in full feature phase")
    daemon.session()


main(test)
