# SPDX-License-Identifier: BSD-2-Clause
"""What begins with 'M' and is no request of MPA, in every way, ends and is on record with its cause
at once, without delaying others."""

import socket

from iser import *

GOOD_REQUEST = iser_raw.mpa_request()
GARBAGE = {  # what it is: the bytes, the cause on record
    "a wrong key": (b"MPA ID Rep Frame" + GOOD_REQUEST[16:], "not a valid request frame"),
    "noise": (b"M" * 600, "not a valid request frame"),
    "revision 0": (iser_raw.mpa_request(revision=0, flags=0), "revision 0"),
    "revision 3": (iser_raw.mpa_request(revision=3), "revision 3"),
    "markers": (iser_raw.mpa_request(flags=iser_raw.MARKERS | iser_raw.ENHANCED), "markers"),
    "private data of 513 bytes": (iser_raw.mpa_request(bytes(509)), "513 bytes"),
    "a length of 65535": (iser_raw.mpa_request(length=65535), "65535 bytes"),
    "enhanced data cut short": (iser_raw.mpa_request(b"", length=2), "enhanced data"),
    "half a request": (GOOD_REQUEST[:10], "before its request"),
}


def test(daemon):
    for name, (raw, cause) in GARBAGE.items():
        with socket.create_connection(daemon.target.portals[0], 20) as peer:
            peer.sendall(raw)
            if len(raw) < 20:
                peer.shutdown(socket.SHUT_WR)
            peer.settimeout(4)  # less than a request is waited for
            try:
                answer = peer.recv(4096)
                check(not answer or answer[16] & iser_raw.REJECTED, f"{name} was accepted")
            except ConnectionError:
                pass
        eventually(f"{name} is on record",
                   lambda: any(cause in r["reason"] for r in daemon.refusals()), 2)
    daemon.session(kind=IserPeer)
    check(daemon.counter("connections_refused") == len(GARBAGE), "not each was counted")
    check(daemon.counter("logins_ok") == 1, "garbage has logged in")


main(test)
