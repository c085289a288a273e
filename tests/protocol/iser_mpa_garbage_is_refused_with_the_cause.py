# SPDX-License-Identifier: BSD-2-Clause
"""What begins with 'M' and is no request of MPA, in every way, ends soon, is on record with its cause,
and holds up nobody."""

import socket

from iser import *

GOOD_REQUEST = iser_raw.mpa_request()
GARBAGE = {
    "a wrong key": b"MPA ID Rep Frame" + GOOD_REQUEST[16:],
    "noise": b"M" * 600,
    "revision 0": iser_raw.mpa_request(revision=0, flags=0),
    "revision 3": iser_raw.mpa_request(revision=3),
    "markers": iser_raw.mpa_request(flags=iser_raw.MARKERS | iser_raw.ENHANCED),
    "private data of 513 bytes": iser_raw.mpa_request(bytes(509)),
    "a length of 65535": iser_raw.mpa_request(length=65535),
    "enhanced data cut short": iser_raw.mpa_request(b"", length=2),
}


def test(daemon):
    for name, raw in GARBAGE.items():
        with socket.create_connection(daemon.target.portals[0], 20) as peer:
            peer.sendall(raw)
            peer.settimeout(20)
            try:
                answer = peer.recv(4096)
                check(not answer or answer[16] & iser_raw.REJECTED, f"{name} was accepted")
            except ConnectionError:
                pass
    daemon.session(kind=IserPeer)
    eventually("the cause is on record",
               lambda: any("no valid MPA request" in r["reason"] for r in daemon.refusals()))
    check(daemon.counter("logins_ok") == 1, "garbage has logged in")


main(test)
