# SPDX-License-Identifier: BSD-2-Clause
"""The same LUN over SRP and iSCSI: what is written on one is read on the other, and a reservation
taken on one holds on the other."""

from srp import *

import iscsi_raw


def both(config, _):
    config.target(["/backstores/ramdisk/rd0"])


def test(daemon):
    peer = daemon.session()
    iscsi, = daemon.others
    tcp = protocol.Peer(daemon, iscsi.portals[0], target=iscsi.iqn)
    tcp.login()
    tcp.ready()
    peer.write(0, pattern(4096))
    check(tcp.read(0, 8) == pattern(4096), "not what SRP has written")
    peer.run(b"\x16" + bytes(5))  # RESERVE(6)
    pdu = tcp.send(tcp.write_task(0, 1, data=bytes(512)))
    tcp.expect(iscsi_raw.RESPONSE, itt=pdu.itt, status=CONFLICT)
    peer.run(b"\x17" + bytes(5))
    tcp.write(0, pattern(512, 2))
    tcp.good(tcp.task(b"\x16" + bytes(5)))
    peer.response(peer.send(peer.write_from(peer.direct(bytes(512)))), CONFLICT)


main(test, adapt=both)
