# SPDX-License-Identifier: BSD-2-Clause
"""enable=1 comes first in guides: from then on discovery is refused, until a name and a password are
there, also where a saved file has it without them."""

from protocol import *


def set_discovery(daemon, **values):
    return daemon.rpc("tree.run", path="/iscsi", command="set",
                      named={"group": "discovery_auth", **values})


def is_refused(daemon):
    peer = daemon.connect()
    peer.refused(0x0201, peer.names(discovery=True))


def test(daemon):
    is_refused(daemon)  # by the file
    set_discovery(daemon, enable="0")
    daemon.connect().login(discovery=True)
    said = set_discovery(daemon, enable="1")["messages"]
    check(any("no userid and password" in line for line in said), said)
    is_refused(daemon)
    set_discovery(daemon, userid="finder")
    is_refused(daemon)
    set_discovery(daemon, password="find-secret-12")
    peer = daemon.connect()
    rsp = peer.chap_start("5", peer.names(discovery=True))
    peer.login_step(peer.chap_response(rsp, "finder", "find-secret-12"), stage=0, next_stage=1)
    daemon.session()


main(test, discovery={"discovery_userid": ""})
