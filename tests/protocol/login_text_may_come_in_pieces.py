# SPDX-License-Identifier: BSD-2-Clause
"""With C a text continues in the next request: empty answers without T until the last piece."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    whole = text({**peer.names(), **peer.OPERATIONAL})
    for at in range(0, len(whole) - 40, 37):
        rsp = peer.login_step(whole[at:at + 37], transit=False, more=True)
        check(not rsp.data and not rsp.flags & 0x80, "an answer before the text is complete")
    rsp = peer.login_step(whole[at + 37:])
    check(rsp.keys["MaxBurstLength"] == "262144", f"{rsp.keys}")
    peer.said = peer.OPERATIONAL
    peer.ready()


main(test)
