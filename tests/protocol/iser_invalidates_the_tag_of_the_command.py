# SPDX-License-Identifier: BSD-2-Clause
"""Where the private data allow it, a status invalidates the tag its command has advertised, and
nothing else does; where they do not, nothing does."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer, private=IB_ISER)
    check(peer.reply_private[:1] == b"\x80", peer.reply_private.hex())
    pdu = peer.send(peer.read_into(peer.read_task(0, 8), 4096))
    peer.expect(RESPONSE, itt=pdu.itt)
    check(peer.invalidated == pdu.region.stag, f"{peer.invalidated}")
    pdu = peer.send(peer.write_from(peer.write_task(0, 8), pattern(4096)))
    peer.expect(RESPONSE, itt=pdu.itt)
    check(peer.invalidated == pdu.region.stag, f"{peer.invalidated}")
    peer.write(0, pattern(BLOCK))  # all of it immediate
    check(peer.invalidated is None, "a tag that was not there")
    peer.good(peer.test_unit_ready())
    check(peer.invalidated is None, "a command without memory")
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN)
    check(peer.invalidated is None, "a ping")
    peer = daemon.session(kind=IserPeer, private=LIBISCSI)
    check(peer.reply_private[:1] == b"\xc0", peer.reply_private.hex())
    peer.read(0, 8)
    check(peer.invalidated is None, "it was not agreed on")


main(test)
