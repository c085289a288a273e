# SPDX-License-Identifier: BSD-2-Clause
"""A pair without "=", an empty key or a text over its limits is an initiator error."""

from protocol import *


def test(daemon):
    for junk in (b"NoEqualsSign\0", b"=value\0", b"K" * 64 + b"=v\0",
                 b"InitiatorAlias=" + b"a" * 256 + b"\0", b"X-n=\xff\xfe" * 100,
                 b"".join(b"X-%d=1\0" % i for i in range(300))):
        peer = daemon.connect()
        rsp = peer.login_request(text(peer.names()) + junk)
        if rsp.login_status:
            check(rsp.login_status >> 8 == 2, f"{junk[:20]}: status {rsp.login_status:04x}")
            peer.expect_closed()
        else:
            check(junk.startswith(b"X-n"), f"{junk[:20]} was accepted")
        peer.close()


main(test)
