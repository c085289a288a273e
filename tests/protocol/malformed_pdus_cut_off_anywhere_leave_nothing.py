# SPDX-License-Identifier: BSD-2-Clause
"""A connection that ends within a PDU, at any byte of header, digest, data and pad: nothing of
it is done, no descriptor and no session is left."""

from protocol import *


def test(daemon):
    keeper = daemon.session(isid=bytes.fromhex("80aabb000002"))
    before = daemon.descriptors()
    for cut in list(range(1, 60)) + [100, 300, 563, 566]:
        peer = daemon.connect()
        peer.login({"HeaderDigest": "CRC32C", "DataDigest": "CRC32C"})
        peer.send_bytes(peer.write_task(0, 1, data=pattern(512)).wire(True, True)[:cut])
        peer.close()
    for cut in range(1, 47, 5):
        peer = daemon.connect()
        peer.send_bytes(peer.login_pdu(peer.names()).wire()[:cut])
        peer.close()
    peer = daemon.session()
    check(peer.read(0, 1) == bytes(512), "a PDU that was cut off was carried out")
    peer.logout()
    keeper.good(keeper.test_unit_ready())
    while daemon.descriptors() > before:  # the last ones end in their own time
        keeper.good(keeper.test_unit_ready())


main(test)
