# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of one LUN over several transports are made of: the same LUN over TCP, iSER and
SRP, and initiators of each that are asked the same."""

import json
import socket
import struct
from typing import NamedTuple

import protocol

import farblock  # noqa: E402: protocol.py makes it importable
from farblock import check, eventually  # noqa: F401: tests import them from here
from iser import IserPeer
from iscsi_raw import READ, RESPONSE, WRITE
from srp import NOTHING, RSP, SrpDaemon, SrpPeer, make_config, port_id  # noqa: F401

GOOD, CHECK, CONFLICT = 0, 2, 0x18
DISK = "/backstores/ramdisk/rd0"
ISIDS = {"tcp": "80aabb000001", "iser": "80aabb000002"}
# PERSISTENT RESERVE OUT and IN
REGISTER, RESERVE, PREEMPT, MOVE = 0, 1, 4, 7
RESERVATION, FULL_STATUS = 1, 3
WRITE_EXCLUSIVE, EXCLUSIVE = 1, 3


class Answer(NamedTuple):
    status: int
    sense: tuple
    data: bytes


class Asked:
    """The commands of these tests. transport() has ask() of its own: one command, its answer."""

    name = None

    def ask(self, cdb, size=0, out=b"", unit=0):
        raise NotImplementedError

    def good(self, cdb, size=0, out=b"", unit=0):
        """Has to end well; returns the data."""
        answer = self.ask(cdb, size, out, unit)
        check(answer.status == GOOD, f"{self.name}: {cdb.hex()}: {answer}")
        return answer.data

    def fails(self, sense, cdb, *more, **options):
        """Has to end with CHECK CONDITION and this sense data."""
        answer = self.ask(cdb, *more, **options)
        check(answer.status == CHECK and answer.sense == sense,
              f"{self.name}: {cdb.hex()}: {answer}")

    def attention(self, asc, ascq, unit=0):
        """This unit attention comes, and no other: what was changed is told within the change or
        soon after."""
        def comes():
            sense = self.ask(bytes(6), unit=unit).sense or (0,)
            check(sense[0] != 6 or sense == (6, asc, ascq), f"{self.name}: unit attention {sense}")
            return sense[0] == 6
        eventually(f"{self.name}: unit attention {asc:02x}/{ascq:02x}", comes)

    def after_attentions(self, cdb, size, unit=0):
        """The data of a command that is repeated until it meets no unit attention."""
        while (answer := self.ask(cdb, size, unit=unit)).status == CHECK and answer.sense[0] == 6:
            pass
        check(answer.status == GOOD, f"{self.name}: {cdb.hex()}: {answer}")
        return answer.data

    def inquiry(self, page=None, unit=0):
        head = (0x12, 0, 0) if page is None else (0x12, 1, page)
        return self.good(struct.pack(">BBBHx", *head, 252), 252, unit=unit)

    def identity(self):
        """The designators of VPD 83h: {(association, type): (protocol, bytes)}."""
        page, at, found = self.inquiry(0x83), 4, {}
        while at < 4 + int.from_bytes(page[2:4], "big"):
            length = page[at + 3]
            found[page[at + 1] >> 4 & 3, page[at + 1] & 15] = (
                page[at] >> 4 if page[at + 1] & 0x80 else None, page[at + 4:at + 4 + length])
            at += 4 + length
        return found

    def port(self):
        """Its relative target port."""
        return int.from_bytes(self.identity()[1, 4][1], "big")

    def blocks(self):
        return 1 + int.from_bytes(self.good(b"\x25" + bytes(9), 8)[:4], "big")

    def read_block(self, lba):
        return self.good(struct.pack(">BBIBHB", 0x28, 0, lba, 0, 1, 0), 512)

    def write_block(self, lba, data):
        """Returns the status."""
        return self.ask(struct.pack(">BBIBHB", 0x2a, 0, lba, 0, 1, 0), out=data).status

    def reserve_out(self, action, key, new=0, kind=0, status=GOOD):
        """PERSISTENT RESERVE OUT."""
        data = struct.pack(">QQ8x", key, new)
        answer = self.ask(struct.pack(">BBB2xIx", 0x5f, action, kind, len(data)), out=data)
        check(answer.status == status, f"{self.name}: PERSISTENT RESERVE OUT {action}: {answer}")

    def move(self, key, new, port, tid):
        """REGISTER AND MOVE, which keeps the own registration."""
        data = struct.pack(">QQxBHI", key, new, 0, port, len(tid)) + tid
        self.good(struct.pack(">BBB2xIx", 0x5f, MOVE, 0, len(data)), out=data)

    def reserve_in(self, action):
        """PERSISTENT RESERVE IN; returns what follows the length."""
        data = self.good(struct.pack(">BB5xHx", 0x5e, action, 1024), 1024)
        return data[8:8 + int.from_bytes(data[4:8], "big")]

    def holder(self):
        """Key and type of the reservation, or None."""
        found = self.reserve_in(RESERVATION)
        return (int.from_bytes(found[:8], "big"), found[13] & 15) if found else None

    def registrations(self):
        """READ FULL STATUS: {TransportID: (key, whether it holds the reservation, port)}."""
        rest, found = self.reserve_in(FULL_STATUS), {}
        while rest:
            key, flags, port, length = struct.unpack(">Q4xB5xHI", rest[:24])
            found[bytes(rest[24:24 + length])] = (key, flags & 1, port)
            rest = rest[24 + length:]
        return found


class Tcp(Asked, protocol.Peer):
    name = "tcp"

    def ask(self, cdb, size=0, out=b"", unit=0):
        now = self.unsolicited(out)[0]
        pdu = self.send(self.task(cdb, size or len(out), READ if size else WRITE if out else 0,
                                  out[:now], lun=protocol.lun(unit)))
        data, end = (b"", self.answer_r2ts(pdu, out)[0]) if out else self.collect(pdu, size)
        return Answer(end.status, end.sense, data)


class Iser(Asked, IserPeer):
    name = "iser"

    def ask(self, cdb, size=0, out=b"", unit=0):
        pdu = self.task(cdb, size or len(out), READ if size else WRITE if out else 0,
                        lun=protocol.lun(unit))
        if size:
            self.read_into(pdu, size)
        self.send(self.write_from(pdu, out))
        end = self.expect(RESPONSE, itt=pdu.itt)
        got = bytes(pdu.region.data[:pdu.region.written]) if size else b""
        return Answer(end.status, end.sense, got + bytes(size - len(got)))


class Srp(Asked, SrpPeer):
    name = "srp"

    def ask(self, cdb, size=0, out=b"", unit=0):
        iu = self.send(self.command(cdb, self.direct(out) if out else NOTHING,
                                    self.direct(bytes(size), True) if size else NOTHING, unit=unit))
        rsp = self.expect(RSP, tag=iu.tag)
        return Answer(rsp.status, rsp.sense, iu.data_in.bytes)


class Client:
    """A connection of the control socket; each call is a command and returns its result, or the text
    of its error."""

    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(daemon.socket_path)
        self.lines = self.socket.makefile("rb")

    def __call__(self, command, path="/", **named):
        request = {"jsonrpc": "2.0", "id": 1, "method": "tree.run",
                   "params": {"command": command, "path": path, "named": named}}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        return answer["error"]["message"] if "error" in answer else answer["result"]


def transport_id(peer, initiator=farblock.SRP_INITIATOR):
    """SPC-5 7.6.4: of this initiator port. initiator: the one of an SRP peer."""
    if peer.name == "srp":
        return struct.pack(">B7x16s", 4, port_id(initiator))
    name = f"{peer.initiator},i,0x{peer.isid.hex()}".encode()
    name += bytes(4 - len(name) % 4)
    return struct.pack(">BxH", 0x45, len(name)) + name


class Daemon(SrpDaemon):
    """farblockd with the same LUN in an SRP and in an iSCSI target."""

    def sessions_of_all(self):
        """Of each transport one, their unit attentions taken: tcp, iser, srp."""
        found = []
        for kind in (Tcp, Iser):
            iscsi = self.others[0]
            peer = kind(self, iscsi.portals[0], target=iscsi.iqn,
                        isid=bytes.fromhex(ISIDS[kind.name]))
            peer.login()
            found.append(peer.ready())
        return (*found, self.session(Srp))

    def paths(self, child):
        """Of a child of both targets."""
        return [f"{self.tpg_path()}/{child}", f"{self.others[0].path}/{child}"]

    def run_at(self, path, command, **named):
        return self.rpc("tree.run", command=command, path=path, named=named)


def main(test, luns=1, adapt=None, **options):
    def both(config, scratch):
        config.target([f"/backstores/ramdisk/rd{i}" for i in range(luns)],
                      attributes={"nopin_timeout": 60})
        if adapt:
            adapt(config, scratch)
    protocol.main(test, make=make_config, kind=Daemon, cpus=(0, 1), luns=luns, adapt=both,
                  **options)
