# SPDX-License-Identifier: BSD-2-Clause
"""kill -9 in the middle of a SANITIZE: the unit comes back in failure mode (SBC-4 4.11), shows
no block until a SANITIZE is through or the mode is left where AUSE=1 allows it."""

import time

from protocol import *

SIZE = 256 * MIB
FAILED = (3, 0x31, 0x03)
AUSE, IMMED, OVERWRITE, EXIT = 0x20, 0x80, 1, 0x1f


def on_a_file(config, scratch):
    disk = config.storage("fileio", "f0", dev=scratch.file("f0.img", size=SIZE), size=SIZE,
                          write_back=True, aio=False)
    config.targets[0]["tpgs"][0]["luns"][0]["storage_object"] = disk


def sanitize(peer, action, data=b""):
    cdb = struct.pack(">BB5xHB", 0x48, action, len(data), 0)
    return peer.send(peer.task(cdb, edtl=len(data), flags=WRITE if data else 0, data=data))


def cut_off(daemon, action):
    """Begins one that takes a while, and kills the daemon."""
    peer = daemon.session()
    pdu = sanitize(peer, action | IMMED | OVERWRITE, bytes((31, 0, 0, 4)) + bytes(4))
    peer.expect_status(pdu.itt)
    pdu = peer.send(peer.test_unit_ready())
    peer.expect_status(pdu.itt, CHECK, (2, 0x04, 0x1b))
    daemon.kill()
    peer.close()
    daemon.start()


def refused(daemon):
    """A session to which the medium is not shown."""
    peer = daemon.connect()
    peer.login()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pdu = peer.send(peer.read_task(0, 1))
        data = peer.expect(RESPONSE, itt=pdu.itt, status=CHECK)
        # A unit attention; or the file is still in the hands of the one that was killed.
        if data.sense[0] != 6 and data.sense != (5, 0x25, 0):
            check(data.sense == FAILED, f"a cut off SANITIZE is {data.sense}")
            return peer
    return peer.fail("the unit does not come back")


def test(daemon):
    cut_off(daemon, AUSE)
    peer = refused(daemon)
    disk = "/backstores/fileio/f0"
    summary = daemon.rpc("tree.ls", path=disk)["summary"]
    check(", SANITIZE is due" in summary, f"ls tells {summary!r} of it")
    told = daemon.rpc("tree.info", path=disk)
    check(told["sanitize"] == "due" and told["sanitize_may_be_left"], f"info tells {told}")
    pdu = sanitize(peer, EXIT)
    peer.expect_status(pdu.itt)
    peer.read(0, 1)
    daemon.stop()
    daemon.start()
    daemon.session().read(0, 1)
    cut_off(daemon, 0)
    peer = refused(daemon)
    pdu = sanitize(peer, EXIT)
    peer.expect_status(pdu.itt, CHECK, (5, 0x24, 0))
    pdu = sanitize(peer, OVERWRITE, bytes((1, 0, 0, 4)) + b"over")
    peer.expect_status(pdu.itt)
    check(peer.read(0, 1) == b"over" * 128, "the pattern is not there")
    daemon.stop()
    daemon.start()
    daemon.session().read(0, 1)


main(test, adapt=on_a_file)
