# SPDX-License-Identifier: BSD-2-Clause
"""A LUN is in use by a session that is registered there, holds its reservation or prevents its
removal, and no longer when it has given that up."""

from protocol import *

REGISTER_IGNORE = 6


def register(peer, key):
    data = struct.pack(">QQ8x", 0, key)
    pdu = peer.task(struct.pack(">BB3xIx", 0x5f, REGISTER_IGNORE, len(data)), len(data), WRITE,
                    data)
    return peer.good(pdu)


def test(daemon):
    peer = daemon.session()
    deletes = {"path": f"{daemon.tpg_path()}/luns"}
    for number, (take, give) in enumerate((
            (lambda: register(peer, 1), lambda: register(peer, 0)),
            (lambda: peer.good(peer.task(b"\x16\0\0\0\0\0")),
             lambda: peer.good(peer.task(b"\x17\0\0\0\0\0"))),
            (lambda: peer.good(peer.task(b"\x1e\0\0\0\x01\0")),
             lambda: peer.good(peer.task(b"\x1e\0\0\0\0\0"))))):
        peer.lun = lun(number)
        peer.ready()
        take()
        daemon.refuse_delete(**deletes, lun=f"lun{number}")
        give()
        daemon.delete(**deletes, lun=f"lun{number}")


main(test, luns=3, storage={"removable": 1})
