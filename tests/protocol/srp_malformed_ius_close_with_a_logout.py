# SPDX-License-Identifier: BSD-2-Clause
"""An IU that is shorter than its fields say, of an unknown kind, with unknown formats, a login on a
channel or an IU of a target: T_LOGOUT, and the channel ends. Others do not notice."""

from srp import *


def cut(iu, size):
    return bytes(iu.raw[:size])


def raws(peer):
    table = peer.write_from(peer.indirect([bytes(512)] * 3))
    direct = peer.read_into(peer.direct(bytes(512), True))
    yield from (b"", b"\x02", cut(direct, 8), cut(direct, 16), cut(direct, 47), cut(direct, 63))
    yield from (cut(table, 48), cut(table, 67), cut(table, 115))
    yield cut(peer.task_mgmt(LUN_RESET), 47)
    yield cut(peer.write_from(peer.immediate(b"")), 51)
    for formats in (0x03, 0x04, 0x0f, 0x40, 0xf0, 0xff, 0x33):
        yield bytes(direct.put("buf_fmt", formats).raw) + bytes(100)
    direct.put("buf_fmt", 1)
    yield bytes(direct.put("add_cdb_len", 4).raw)
    yield bytes(direct.put("add_cdb_len", 0xff).raw)
    for opcode in (LOGIN_REQ, 4, 0x40, T_LOGOUT, CRED_REQ, AER_REQ, LOGIN_RSP, RSP, 0xff):
        yield bytes((opcode,)) + bytes(63)
    for opcode in (CRED_RSP, AER_RSP, I_LOGOUT):
        yield bytes((opcode,)) + bytes(14)
    yield peer.login  # on a channel


def test(daemon):
    other = daemon.session(initiator=OTHER)
    for i in range(len(list(raws(daemon.session())))):
        peer = daemon.session()
        raw = list(raws(peer))[i]
        peer.send_bytes(peer.message(raw))
        reason = peer.expect_closed(f"after {raw.hex()}")
        check(reason == INVALID_IU, f"T_LOGOUT {reason} after {raw.hex()}")
    other.expect_alive()


main(test)
