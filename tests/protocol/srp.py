# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of SRP are made of: a daemon with an SRP target and an initiator by the book over
software iWARP. The bytes are in srp_raw.py."""

import struct

import protocol
from protocol import *  # noqa: F403: tests import everything from here
from protocol import BLOCK, MIB, Configuration, Daemon, check, pattern

import farblock
from srp_raw import *  # noqa: F403: after the names of iSCSI, which these replace
from srp_raw import (CHECK, GOOD, I_LOGOUT, IMMEDIATE_REQUESTED, LUN_RESET, NO_DATA, NOTHING, RSP,
                     SINGLE, T_LOGOUT, TSK_MGMT, Iu, Refused, SrpWire)

OTHER = "ib.0002c903000b00010002c903000b0002"  # an initiator
READ10, WRITE10 = 0x28, 0x2a
DISCOVERY = b"farblock".ljust(16, b"\0")  # target port identifier
LIST_MAX = 65535  # bytes


def port_id(name):
    """The 16 bytes of ib.…"""
    return bytes.fromhex(name[3:])


def cdb10(opcode, lba, blocks):
    return struct.pack(">BBIBHB", opcode, 0, lba, 0, blocks, 0)


class SrpPeer(SrpWire):
    """An initiator by the book. login: fields of the LOGIN_REQ, or its bytes."""

    def __init__(self, daemon, address, initiator=farblock.SRP_INITIATOR, target=None, flags=SINGLE,
                 immediate=True, login=None, **options):
        if not isinstance(login, bytes):
            login = {"initiator": port_id(initiator),
                     "target": port_id(target or daemon.target.iqn),
                     "flags": flags | (IMMEDIATE_REQUESTED if immediate else 0), **(login or {})}
        super().__init__(address, login=login, **options)
        self.daemon = daemon

    # --- commands ---

    def response(self, iu, status=GOOD, sense=None, why=""):
        """The RSP of a CMD, which must be the next IU."""
        rsp = self.expect(RSP, why, tag=iu.tag)
        if rsp.code is not None:
            self.fail(f"the target refused the command with code {rsp.code} {why}")
        if rsp.status != status or sense and rsp.sense != sense:
            self.fail(f"status {rsp.status:#x} and sense {rsp.sense} instead of {status:#x} and "
                      f"{sense} {why}")
        return rsp

    def refused(self, iu, why=""):
        """Sends a CMD whose fields the target has to refuse, and to survive."""
        rsp = self.send(iu) and self.expect(RSP, why, tag=iu.tag)
        if rsp.code != INVALID_FIELDS:
            self.fail(f"not refused: code {rsp.code} {why}")
        return rsp

    def run(self, cdb, out=NOTHING, data_in=NOTHING, status=GOOD, **options):
        """Sends a command; returns its RSP."""
        return self.response(self.send(self.command(cdb, out, data_in, **options)), status)

    def test_unit_ready(self, **options):
        return self.command(bytes(6), **options)

    def ready(self):
        """Takes the unit attentions of a new nexus."""
        for _ in range(8):
            iu = self.send(self.test_unit_ready())
            if self.expect(RSP, tag=iu.tag).status == GOOD:
                return self
        return self.fail("unit attentions without end")

    def read_into(self, data_in, lba=0, **options):
        """A READ of as many blocks as data_in has room for."""
        return self.command(cdb10(READ10, lba, data_in.length // BLOCK), data_in=data_in, **options)

    def write_from(self, out, lba=0, **options):
        return self.command(cdb10(WRITE10, lba, out.length // BLOCK), out=out, **options)

    def read(self, lba, blocks):
        iu = self.send(self.read_into(self.direct(b"\xa5" * blocks * BLOCK, True), lba))
        self.response(iu)
        check(iu.data_in.written == blocks * BLOCK, f"{iu.data_in.written} bytes were written")
        return iu.data_in.bytes

    def write(self, lba, data):
        return self.response(self.send(self.write_from(self.direct(data), lba)))

    def room(self, pieces):
        """Writable memory for pieces of these lengths."""
        return self.indirect([b"\xa5" * n for n in pieces], True)

    def held_write(self, seed=1, lba=0, blocks=128):
        """Sends a write; returns it once its RDMA Read has come, which is not answered as long as
        holds_reads is set."""
        self.holds_reads = True
        iu = self.send(self.write_from(self.direct(pattern(blocks * BLOCK, seed)), lba))
        while not self.held_reads:
            check(self.turn() is None, "an answer instead of an RDMA Read")
        return iu

    def manage(self, function, ref=None, code=0, **options):
        """A task management request and its response, which must be the next IU."""
        iu = self.send(self.task_mgmt(function, ref, **options))
        rsp = self.expect(RSP, tag=iu.tag)
        check(rsp.code == code, f"task management code {rsp.code}, not {code}")
        return rsp

    def forget(self, iu):
        """An aborted command, which gets no RSP."""
        self.sent.pop(iu.tag)

    def logout(self):
        self.send(Iu(opcode=I_LOGOUT, tag=self.next_tag()))
        self.expect_closed("after I_LOGOUT")

    def expect_alive(self, why=""):
        """It is served yet."""
        self.response(self.send(self.test_unit_ready()), why=why)


class DiscoveryPeer(SrpPeer):
    """An initiator that asks for the targets."""

    def __init__(self, daemon, address, login=None, **options):
        super().__init__(daemon, address, immediate=False,
                         login={"target": DISCOVERY, "it_iu_len": 64, **(login or {})}, **options)

    def query(self, room=LIST_MAX, most=None, **options):
        """INQUIRY of the list, for which there are room bytes; most: ALLOCATION LENGTH."""
        cdb = struct.pack(">BBBHB", 0x12, 1, 0xc0, room if most is None else most, 0)
        data_in = self.direct(b"\xa5" * room, True) if room else NOTHING
        return self.command(cdb, data_in=data_in, **options)

    def page(self):
        """The list as bytes."""
        iu = self.send(self.query())
        self.response(iu)
        page = iu.data_in.bytes
        size, = struct.unpack(">H", page[2:4])
        check(iu.data_in.written == size + 4, f"{iu.data_in.written} bytes of {size} + 4")
        check(page[:2] == b"\x3f\xc0" and page[4:13] == b"farblock\1" and not any(page[14:16]),
              f"header {page[:16].hex()}")
        return page[:size + 4]

    def targets(self):
        """Name and portals of each target."""
        text = self.page()[16:].decode()
        check(not text or text[-1] == "\0", "the last entry has no end")
        entries = [entry.split(" ") for entry in text.split("\0")[:-1]]
        return {name: portals.split(",") for name, portals in entries}


class SrpDaemon(Daemon):
    """farblockd with an SRP target on loopback."""

    def tpg_path(self):
        return f"/srpt/{self.target.iqn}"

    def connect(self, kind=None, through=None, **options):
        """A channel that is logged in. through: the target whose portal is used."""
        return (kind or SrpPeer)(self, (through or self.target).portals[0], **options)

    def discovery(self, **options):
        """A channel of discovery."""
        return self.connect(DiscoveryPeer, **options)

    def session(self, kind=None, **options):
        """The same, its unit attentions taken."""
        return self.connect(kind, **options).ready()

    def rejected(self, reason, cause=None, **options):
        """The login must be rejected with this reason, and be on record with its cause."""
        try:
            self.connect(**options)
        except Refused as why:
            got = SrpPeer.rejection(why)
            check(got == reason, f"LOGIN_REJ {got:#x}, not {reason:#x}")
            reasons = [r["reason"] for r in self.refusals()]
            check(reasons and (not cause or any(cause in r for r in reasons)),
                  f"not on record with {cause!r}: {reasons}")
            return
        raise farblock.Failure(f"accepted, not rejected with {reason:#x}")


def make_config(scratch, luns=1, size=16 * MIB, acls=(farblock.SRP_INITIATOR, OTHER), storage=None,
                targets=1, adapt=None, **keys):
    config = Configuration()
    disks = [config.ramdisk(f"rd{i}", size, storage) for i in range(luns)]
    for i in range(targets):
        wwn = farblock.SRP_PORT[:-2] + f"{i + 1:02x}"
        config.srp_target(disks, wwn, acls, **keys)
    if adapt:
        adapt(config, scratch)
    return config


def make_many(scratch, count, **keys):
    """One target as usual and others without LUNs behind the same portal."""
    config = make_config(scratch, acls=(farblock.SRP_INITIATOR,), **keys)
    portals = [("127.0.0.1", config.targets[0]["tpgs"][0]["srp_portals"][0]["port"])]
    for i in range(1, count):
        config.srp_target([], farblock.SRP_PORT[:-8] + f"{i:08x}", portals=portals)
    return config


def main(test, **options):
    """As protocol.main(), with a daemon that has an SRP target."""
    protocol.main(test, make=make_config, kind=SrpDaemon, **options)
