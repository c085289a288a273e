# SPDX-License-Identifier: BSD-2-Clause
"""Commands, task management, text, logout and NOP before full feature phase close the connection
and do nothing."""

from protocol import *


def test(daemon):
    keeper = daemon.session()
    keeper.write(0, pattern(512))
    for opcode in (NOP_OUT, COMMAND, TMF, TEXT, DATA_OUT, LOGOUT, SNACK, 0x1c, NOP_IN, LOGIN_RSP):
        for is_first in (True, False):
            peer = daemon.connect(isid=bytes.fromhex("80aabb00ff01"))
            if not is_first:
                peer.login_step(peer.names(), stage=1, transit=False)
            pdu = peer.write_task(0, 1, data=bytes(512)) if opcode == COMMAND \
                else peer.request(opcode)
            peer.send(pdu)
            try:
                rsp = peer.recv()
                check(rsp.opcode == LOGIN_RSP and rsp.login_status == 0x020b, f"{rsp}")
            except Closed:
                pass
            peer.close()
    check(keeper.read(0, 1) == pattern(512), "a command before login was carried out")


main(test)
