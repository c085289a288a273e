# SPDX-License-Identifier: BSD-2-Clause
"""A wrong DataSN, offset, length or tag within an R2T's sequence: ABORTED COMMAND, or the
connection is closed, the medium as it was; never a good status."""

from protocol import *


WRONG = {"DataSN": {"data_sn": 5}, "offset too high": {"offset": 1024},
         "offset beyond the command": {"offset": 0xfffffe00}, "offset 512 back": {"offset": 0}}


def test(daemon):
    for what, fields in WRONG.items():
        peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
        peer.write(0, pattern(8192))
        pdu = peer.send(peer.write_task(0, 16))
        r2t = peer.expect(R2T, itt=pdu.itt)
        parts = peer.solicited(r2t, pattern(8192, 99), size=4096)
        for name, value in fields.items():
            parts[1].put(name, value)
        peer.send(*parts)
        try:
            rsp = peer.expect(RESPONSE, what, itt=pdu.itt, status=CHECK)
            check(rsp.sense[0] == 0xb, f"{what}: sense {rsp.sense}")
        except Failure as why:
            check("closed" in str(why), f"{what}: {why}")
            peer = daemon.session()
        peer.write(4096, pattern(512))
        peer.close()


main(test)
