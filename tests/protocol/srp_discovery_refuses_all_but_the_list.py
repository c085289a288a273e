# SPDX-License-Identifier: BSD-2-Clause
"""On a channel of discovery other commands, pages and LUNs end with CHECK CONDITION, task management
is unsupported, and the list is answered beside them, as much of it as there is room for."""

from srp import *

INVALID_OPCODE, INVALID_FIELD, NO_LUN = (5, 0x20, 0), (5, 0x24, 0), (5, 0x25, 0)
INQUIRY = bytes((0x12, 0, 0, 0, 96, 0))


def refused(peer, sense, cdb, **options):
    iu = peer.send(peer.command(cdb, **options))
    rsp = peer.response(iu, CHECK, sense)
    for data in (iu.out, iu.data_in):
        check(not data.written, f"{cdb.hex()} has moved data")
    return rsp


def commands(daemon):
    peer = daemon.discovery()
    for cdb in (bytes(6), bytes((0xa0,)) + bytes(11), cdb10(READ10, 0, 1), bytes((0xff,)) * 16):
        refused(peer, INVALID_OPCODE, cdb)
    rsp = refused(peer, INVALID_OPCODE, cdb10(WRITE10, 0, 8), out=peer.direct(bytes(4096)))
    check(rsp.flags & DOUNDER and rsp.out_residual == 4096, "data-out was taken")
    refused(peer, INVALID_OPCODE, cdb10(READ10, 0, 8), data_in=peer.direct(bytes(4096), True))
    for cdb in (INQUIRY, INQUIRY[:1] + b"\1\x83" + INQUIRY[3:], INQUIRY[:1] + b"\3\xc0" + INQUIRY[3:]):
        refused(peer, INVALID_FIELD, cdb, data_in=peer.direct(bytes(96), True))
    iu = peer.query(unit=1)
    peer.response(peer.send(iu), CHECK, NO_LUN)
    check(daemon.target.iqn in peer.targets(), "no list beside them")


def lengths(daemon):
    whole = daemon.discovery().page()
    peer = daemon.discovery()
    for room, most in ((0, LIST_MAX), (3, LIST_MAX), (20, LIST_MAX), (LIST_MAX, 20), (100, 0)):
        iu = peer.send(peer.query(room, most))
        rsp = peer.response(iu)
        size = min(room, most, len(whole))
        check(iu.data_in.bytes[:size] == whole[:size], "another list")
        over = max(0, min(most, len(whole)) - room)
        check(rsp.flags == (DIOVER if over else DIUNDER) and
              rsp.in_residual == (over or room - size), f"{room}, {most}: {rsp}")


def test(daemon):
    other = daemon.session()
    commands(daemon)
    lengths(daemon)
    peer = daemon.discovery()
    for function in (ABORT_TASK, ABORT_TASK_SET, CLEAR_TASK_SET, LUN_RESET, CLEAR_ACA, 0xff):
        peer.manage(function, None, TMF_UNSUPPORTED)
    peer.logout()
    other.expect_alive()


main(test)
