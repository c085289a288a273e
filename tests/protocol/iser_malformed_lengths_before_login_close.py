# SPDX-License-Identifier: BSD-2-Clause
"""Before login, each way in which the lengths of a message can disagree ends the connection without
effect: a message shorter than iSER's header, than the PDU's header, than the data or the AHS that
is declared; one that is longer; one longer than any receive buffer."""

from iser import *


def message(data_len=0, ahs_len=0, body=b"", opcode=0x10, cut=None):
    bhs = bytearray(48)
    bhs[0], bhs[1], bhs[4] = 0x43, 0x87, ahs_len
    bhs[5:8] = data_len.to_bytes(3, "big")
    whole = iser_header(opcode=opcode) + bytes(bhs) + body
    return whole if cut is None else whole[:cut]


CLASSES = {
    "nothing": b"",
    "a part of the header": message(cut=27),
    "the header alone": message(cut=28),
    "a part of the PDU's header": message(cut=75),
    "data declared, none there": message(data_len=1),
    "more data declared than there is": message(data_len=101, body=bytes(100)),
    "the longest length there is": message(data_len=0xffffff, body=bytes(100)),
    "an AHS declared, none there": message(ahs_len=255),
    "an AHS where none may be": message(ahs_len=1, body=bytes(4)),
    "more there than declared": message(data_len=92, body=bytes(100)),
    "data beyond 8192": message(data_len=8193, body=bytes(8193)),
    "beyond every buffer": message(data_len=60000, body=bytes(60000)),
    "an unknown opcode": message(opcode=0x40),
    "a HelloReply": message(opcode=0x30),
}


def test(daemon):
    daemon.connect(IserPeer).close()
    before = daemon.memory()
    for name, raw in CLASSES.items():
        peer = daemon.connect(IserPeer)
        try:
            peer.send_bytes(peer.message(raw))
            peer.expect_closed(f"after {name}")
        except ConnectionError:
            pass
        peer.close()
    check(daemon.memory() - before < 4 * MIB, f"{daemon.memory() - before} bytes more")
    check(daemon.counter("logins_ok") == 0, "a login")
    daemon.session(kind=IserPeer)


main(test)
