# SPDX-License-Identifier: BSD-2-Clause
"""A write that has failed keeps its status back while unsolicited data is due. A logout does not
wait for that data, nor does the end of the connection: the next session comes in at once."""

from protocol import *


def test(daemon):
    for end in ("logout", "close after a logout", "close"):
        peer = daemon.session()
        failed = peer.write_task(0x7ffffff0, 16, final=False)
        if end == "logout":
            peer.send(failed)
            peer.logout()
        elif end == "close":
            peer.send(failed)
            peer.close()
        else:
            peer.send(failed, peer.request(LOGOUT, F, immediate=True))
            peer.close()
    check(daemon.session().read(0, 1) == bytes(512), "the disk is not as it was")


main(test)
