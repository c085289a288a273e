# SPDX-License-Identifier: BSD-2-Clause
"""An ACL's cmdsn_depth goes before the portal group's."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    check(peer.max_cmd_sn - peer.exp_cmd_sn + 1 == 200, "the window is not 200")
    pdus = [peer.read_task(n, 1) for n in range(200)]
    peer.send(*pdus)
    done = set()
    while len(done) < 200:
        got = peer.expect(DATA_IN)
        if got.flags & 1:
            done.add(got.itt)
    check(done == {p.itt for p in pdus}, "not every read was answered")


main(test, acls=[acl(attributes={"cmdsn_depth": 200})])
