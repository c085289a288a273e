# SPDX-License-Identifier: BSD-2-Clause
"""Random bytes, before login and after it, with right lengths and wrong ones: the daemon and the
other sessions go on."""

import random
import socket

from protocol import *


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    other.write(0, pattern(65536))
    dice = random.Random(1)
    for n in range(120):
        peer = daemon.connect()
        if n % 2:
            peer.login()
        pdus = b""
        for _ in range(20):
            pdu = Pdu(dice.choice([0, 2, 3, 4, 5, 6, 16, 0x40, 0x42, dice.randrange(256)]),
                      data=dice.randbytes(dice.choice([0, 1, 4, 48, 513])))
            pdu.bhs[1], pdu.bhs[8:] = dice.randrange(256), dice.randbytes(40)
            if n % 4 == 1:  # within the window
                pdu.put("cmd_sn", dice.randrange(70)).put("lun", bytes(8))
            pdus += pdu.wire()
        try:
            peer.send_bytes(pdus if n % 3 else dice.randbytes(5000))
            peer.socket.shutdown(socket.SHUT_WR)
            while peer.socket.recv(65536):
                pass
        except OSError:
            pass
        peer.close()
    other.good(other.test_unit_ready())
    check(other.read(0, 128) == pattern(65536), "read back differs")


main(test)
