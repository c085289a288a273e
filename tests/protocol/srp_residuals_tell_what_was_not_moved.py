# SPDX-License-Identifier: BSD-2-Clause
"""Less or more data than the descriptors have room for: DIUNDER, DIOVER, DOUNDER, DOOVER with the
difference. Memory beyond what a command has is not touched."""

from srp import *


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(8192))

    def run(cdb, flags, residual, **data):
        iu = peer.send(peer.command(cdb, **data))
        rsp = peer.response(iu)
        check(rsp.flags == flags, f"flags {rsp.flags:#x}, not {flags:#x}")
        check((rsp.in_residual or rsp.out_residual) == residual, f"{rsp}")
        return iu

    def room(size):
        return peer.direct(b"\xa5" * size, True)

    iu = run(cdb10(READ10, 0, 8), DIUNDER, 100, data_in=room(4196))
    check(iu.data_in.bytes == pattern(8192)[:4096] + b"\xa5" * 100, "data")
    iu = run(cdb10(READ10, 0, 8), DIOVER, 96, data_in=room(4000))
    check(iu.data_in.bytes == pattern(8192)[:4000], "data")
    iu = run(cdb10(READ10, 0, 8), DIUNDER, 4096, data_in=peer.room([4000, 96, 4096]))
    check(iu.data_in.bytes == pattern(8192)[:4096] + b"\xa5" * 4096, "data")
    run(cdb10(READ10, 0, 8), DIOVER, 4096)
    run(bytes(6), DIUNDER, 512, data_in=room(512))
    run(bytes(6), DOUNDER, 512, out=peer.direct(bytes(512)))
    run(cdb10(WRITE10, 0, 8), DOUNDER, 512, out=peer.direct(pattern(4608, 2)))
    check(peer.read(0, 16) == pattern(4096, 2) + pattern(8192)[4096:], "what was written")
    run(cdb10(WRITE10, 0, 8), DOUNDER, 3072, out=peer.immediate(pattern(7168, 3)))
    check(peer.read(0, 16) == pattern(4096, 3) + pattern(8192)[4096:], "what was written")


main(test)
