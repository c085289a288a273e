# SPDX-License-Identifier: BSD-2-Clause
"""READ FULL STATUS names initiators of all transports by TransportIDs of their protocols, and
REGISTER AND MOVE passes a reservation from TCP to SRP, on to iSER and back to TCP."""

from transports import *

KEYS = {"tcp": 0x1111, "iser": 0x2222, "srp": 0x3333}


def test(daemon):
    tcp, iser, srp = peers = daemon.sessions_of_all()
    for peer in peers:
        peer.reserve_out(REGISTER, 0, KEYS[peer.name])
    ports = {peer.name: peer.port() for peer in peers}
    tcp.reserve_out(RESERVE, KEYS["tcp"], kind=EXCLUSIVE)
    for holder, new in ((tcp, srp), (srp, iser), (iser, tcp)):
        wanted = {transport_id(peer): (KEYS[peer.name], int(peer is holder), ports[peer.name])
                  for peer in peers}
        for peer in peers:
            got = peer.registrations()
            check(got == wanted, f"{peer.name} sees {got}, not {wanted}")
        holder.move(KEYS[holder.name], KEYS[new.name], ports[new.name], transport_id(new))
        check(new.write_block(0, bytes(512)) == GOOD, f"{new.name} holds it and cannot write")
        check(holder.write_block(0, bytes(512)) == CONFLICT, f"{holder.name} writes")


main(test)
