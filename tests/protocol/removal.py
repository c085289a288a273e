# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of REMOVE I_T NEXUS are made of (SPC-4 6.29): its parameter list, sessions of one
initiator, and a disk that keeps writes for a second. Whoever answers too early is told by the
medium: the write that was in the storage is not there yet."""

import struct

import protocol
import transports
from transports import *  # noqa: F403: tests import everything from here
from transports import DISK, GOOD, Iser, Srp, Tcp, check, farblock, transport_id

LENGTH_ERROR, BAD_FIELD = (5, 0x1a, 0), (5, 0x26, 0)
SECOND_PORT = "ib.0002c903000a00990002c903000a0002"  # of the same SRP initiator
OLD, NEW = b"\x0d" * protocol.BLOCK, b"\x0e" * protocol.BLOCK


def iscsi(daemon, kind=Tcp, isid="80aabb000001", target=None, **options):
    """A session whose unit attentions are taken."""
    target = target or daemon.others[0]
    peer = kind(daemon, target.portals[0], target=target.iqn, isid=bytes.fromhex(isid), **options)
    peer.login()
    return peer.ready()


def name_of(peer, initiator=farblock.SRP_INITIATOR):
    """The nexus of peer, as others name it: relative port and TransportID."""
    return peer.port(), transport_id(peer, initiator)


def nexus_list(*names):
    """The parameter list of these names."""
    body = b"".join(struct.pack(">HH", port, len(tid)) + tid for port, tid in names)
    return struct.pack(">HH", 0, len(body)) + body


def removal(data):
    """The CDB for a parameter list."""
    return struct.pack(">BB4xIxx", 0xa4, 0x0c, len(data))


def remove(peer, *names):
    data = nexus_list(*names)
    peer.good(removal(data), out=data)


def refused(peer, sense, data):
    peer.fails(sense, removal(data), out=data)


def keeps_writes(daemon, usec=1000000):
    """From now on the disk keeps each write so long before it is on the medium."""
    daemon.set(DISK, "attribute", delay_write_us=usec)


def leave_write(daemon, peer, lba=0, data=OLD):
    """Sends a write and returns when it is in the storage."""
    if peer.name == "srp":
        peer.send(peer.write_from(peer.immediate(data), lba))
    else:
        peer.send(peer.write_task(lba, len(data) // protocol.BLOCK, data=data))
    transports.eventually("the write is in the storage", lambda: any(
        unit["commands_in_flight"] for s in daemon.sessions() for unit in s["luns"]))


def removes_with_its_write(daemon, peer, old, lba, initiator=farblock.SRP_INITIATOR):
    """peer removes the nexus of old: the answer comes when a write of old is on the medium."""
    name = name_of(old, initiator)
    keeps_writes(daemon)
    leave_write(daemon, old, lba)
    keeps_writes(daemon, 0)
    remove(peer, name)
    check(peer.read_block(lba) == OLD, f"{old.name}, {lba}: answered before the write was over")
    old.expect_closed("after its nexus was removed")


def end(daemon, peer, is_dropped):
    """Ends the newest session, that of peer, by a reset or as the administrator."""
    left = len(daemon.sessions()) - 1
    if is_dropped:
        daemon.rpc("session.drop", sid=max(s["sid"] for s in daemon.sessions()))
    else:
        peer.reset()
    transports.eventually("the session is over", lambda: len(daemon.sessions()) == left)


def main(test, storage=None, **options):
    transports.main(test, storage={"delay_read_us": 1, **(storage or {})}, **options)
