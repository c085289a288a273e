# SPDX-License-Identifier: BSD-2-Clause
"""One port: a first byte of 'M' is iWARP, 0x43 and 0x03 are logins over TCP, whenever it comes."""

import socket

from iser import *


def late(peer, raw):
    """One byte first, and the rest once the target has answered another peer."""
    peer.send_bytes(raw[:1])
    return raw[1:]


def test(daemon):
    silent = socket.create_connection(daemon.target.portals[0])
    iser = daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000001"))
    tcp = daemon.session(isid=bytes.fromhex("80aabb000002"))
    plain = daemon.connect(isid=bytes.fromhex("80aabb000003"))
    pdu = plain.login_pdu({**plain.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    pdu.bhs[0] = 0x03
    rest = late(plain, pdu.wire())
    shown = {s["transport"] for s in daemon.sessions()}
    check(shown == {"iSER", "TCP"}, f"{shown}")
    plain.send_bytes(rest)
    check(plain.recv().opcode == LOGIN_RSP, "no answer to a login without the I bit")
    request = iser_raw.mpa_request()
    silent.sendall(request[:1])
    tcp.good(tcp.test_unit_ready())
    silent.sendall(request[1:])
    silent.settimeout(20)
    check(silent.recv(16) == iser_raw.REPLY_KEY, "no MPA reply to a request in two pieces")
    iser.good(iser.test_unit_ready())
    silent.close()


main(test)
