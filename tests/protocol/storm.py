# SPDX-License-Identifier: BSD-2-Clause
"""What a storm of SRP is made of: initiators in processes of their own that do, by dice, what an
initiator may do and what it may not, and changes of the configuration under them. Nobody checks
what they hear; a keeper, by the book and with a disk of its own, must not notice."""

import multiprocessing
import os
import random
import socket
import struct
import time

from srp import *
from srp import BLOCK, MIB, SrpPeer, eventually, pattern

import farblock
from farblock import Failure

SECONDS = float(os.environ.get("STORM_SECONDS", "10"))
WILD = [f"ib.0002c903000c{i:04x}0002c903000c{i:04x}" for i in range(3)]
KEEPER = farblock.SRP_INITIATOR
PIECE = 4096
PR_OUT, PR_IN = 0x5f, 0x5e
REGISTER, RESERVE, RELEASE, CLEAR, REGISTER_IGNORE = 0, 1, 2, 3, 6


class Wild(SrpPeer):
    """Neither checks what comes nor serves accesses beyond its memory; waits a second for what may
    have been aborted."""

    def __init__(self, *where, **options):
        super().__init__(*where, timeout=1, **options)

    def check(self, iu):
        if iu.opcode in (0x81, 0x82):
            self.asked = iu

    def turn(self):
        try:
            return super().turn()
        except Failure as why:
            raise Closed(str(why)) from None

    def reset(self):
        """Closes without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def cut(self, dice):
        dice.choice((self.close, self.reset))()

    def settle(self):
        """Takes what comes up to the answer of a command that is sent last."""
        last = self.send(self.command(b"\x12\0\0\0\x24"))
        while self.recv().tag != last.tag:
            pass

    def until_a_read(self):
        """Holds RDMA Reads until there is one."""
        self.holds_reads = True
        while not self.held_reads:
            self.turn()


# --- what an initiator does ---

def shape(peer, dice, writable):
    pieces = [bytes(PIECE) if writable else pattern(PIECE, dice.randrange(99))
              for _ in range(dice.choice((1, 2, 4, 9)))]
    kind = dice.randrange(4)
    if kind == 0:
        return peer.direct(b"".join(pieces), writable)
    if kind == 1 and not writable:
        return peer.immediate(pieces[0])
    return peer.indirect(pieces, writable, dice.randrange(len(pieces) + 1) if kind > 2 else None)


def one(peer, dice):
    unit, lba = dice.randrange(3), dice.randrange(0, 2048, 8)
    if dice.random() < 0.5:
        return peer.read_into(shape(peer, dice, True), lba, unit=unit)
    return peer.write_from(shape(peer, dice, False), lba, unit=unit)


def load(peer, dice):
    for _ in range(dice.randrange(1, 5)):
        peer.send(*[one(peer, dice) for _ in range(dice.randrange(1, 12))])
        peer.settle()


def aborts(peer, dice):
    """Some after a part of a read has been answered."""
    peer.holds_reads = dice.random() < 0.5
    ius = [one(peer, dice) for _ in range(dice.randrange(1, 8))]
    peer.send(*ius)
    for iu in dice.sample(ius, dice.randrange(len(ius)) + 1):
        if dice.random() < 0.3 and peer.holds_reads:
            peer.until_a_read()
        function = dice.choice((1, 1, 1, 2, 4, 8, 0x40))
        peer.send(peer.task_mgmt(function, iu, unit=dice.randrange(3)))
    peer.holds_reads = False
    peer.serve_reads()
    peer.settle()


def cut_in_a_read(peer, dice):
    data = dice.choice((peer.direct(bytes(16 * PIECE)), peer.indirect([bytes(PIECE)] * 9, False, 0)))
    peer.send(peer.write_from(data, unit=dice.randrange(2)))
    peer.until_a_read()
    sink, to, raw = peer.held_reads[0]
    part = fpdu(tagged(2, sink, to, raw[:1024], last=False), peer.with_crc)
    peer.send_bytes(part[:dice.randrange(len(part) + 1)])
    peer.cut(dice)


def tables_that_change(peer, dice):
    """The content differs each time that the target fetches it."""
    data = peer.indirect([bytes(PIECE)] * 6, True, 0)
    entries = bytes(data.table.data)
    for _ in range(8):
        changed = bytearray(entries)
        for _ in range(dice.randrange(4)):
            changed[dice.randrange(len(changed))] = dice.choice((0, 0xff, dice.randrange(256)))
        data.table.data[:] = changed
        peer.send(peer.read_into(data))
        peer.turn()
    peer.settle()


def takes_nothing(peer, dice):
    for _ in range(dice.randrange(1, 100)):
        peer.send(peer.read_into(peer.direct(bytes(64 * PIECE), True)))
    if dice.random() < 0.5:
        peer.turn()
    peer.cut(dice)


def garbage(peer, dice):
    raw = bytearray(one(peer, dice).raw)
    for _ in range(dice.randrange(6)):
        raw[dice.randrange(len(raw))] = dice.randrange(256)
    if raw[32] not in (0x28, 0x2a):
        raw[32] = 0x28  # what a command does is what it says
    peer.send_bytes(peer.message(bytes(raw[:dice.randrange(1, len(raw) + 1)])))
    peer.settle()


def reserve(peer, dice):
    action = dice.choice((RESERVE, RELEASE, CLEAR, REGISTER_IGNORE, REGISTER_IGNORE))
    peer.send(reservation(peer, action, dice.randrange(3), unit=dice.randrange(2)))
    peer.settle()


def reservation(peer, action, key=1, old=None, aptpl=False, **options):
    """PERSISTENT RESERVE OUT, write exclusive. old: the key that is registered."""
    own = key if old is None else old
    data = struct.pack(">QQ4xB3x", own, key, aptpl)
    return peer.command(struct.pack(">BBB2xIx", PR_OUT, action, 1, len(data)), peer.direct(data),
                        **options)


def logs_out(peer, dice):
    peer.send(one(peer, dice))
    peer.logout()


ACTS = (load, load, load, aborts, aborts, cut_in_a_read, tables_that_change, takes_nothing, garbage,
        reserve, logs_out)


def channels(daemon, name, dice):
    """A session with some channels that do something, one after the other."""
    flags = dice.choice((SINGLE, MULTI))
    peers = [daemon.connect(Wild, through=daemon.wild, target=dice.choice(daemon.names),
                            initiator=name, flags=flags if i == 0 else MULTI,
                            crc=dice.random() < 0.3, segment=dice.choice((0, 0, 700)))
             for i in range(dice.choice((1, 1, 2, 4)))]
    peers[0].send(*[peers[0].test_unit_ready(unit=i % 3) for i in range(6)])  # unit attentions
    peers[0].settle()
    for _ in range(dice.randrange(1, 6)):
        dice.choice(ACTS)(dice.choice(peers), dice)
    for peer in peers:
        peer.cut(dice)


def half_open(daemon, name, dice):
    wire = socket.create_connection(daemon.wild.portals[0], 5)
    raw = mpa_request(login_request(initiator=port_id(name), target=port_id(daemon.names[0])))
    wire.sendall(raw[:dice.randrange(len(raw) + 1)])
    wire.close()


def rages(daemon, number, seed, end):
    """A process: until the end, whatever happens to its connections."""
    dice = random.Random(seed)
    while time.monotonic() < end:
        try:
            dice.choice((channels,) * 7 + (half_open,))(daemon, WILD[number % len(WILD)], dice)
        except (Failure, OSError):
            pass


class Storm:
    """Initiators that rage until the end of the block."""

    def __init__(self, daemon, seconds=SECONDS, count=4, seed=1):
        context = multiprocessing.get_context("fork")
        self.end = time.monotonic() + seconds
        self.raging = [context.Process(target=rages, args=(daemon, i, seed * 100 + i, self.end),
                                       daemon=True) for i in range(count)]

    def __enter__(self):
        for process in self.raging:
            process.start()
        return self

    @property
    def is_over(self):
        return time.monotonic() >= self.end

    def __exit__(self, kind, *_):
        for process in self.raging:
            process.join() if kind is None else process.kill()
            if kind is None:
                check(process.exitcode == 0, f"an initiator ended with {process.exitcode}")


# --- what changes under them ---

class StormDaemon(SrpDaemon):
    """Two targets of the wild ones, the first of which has two LUNs and whose portal they come by,
    and one of the keeper."""

    @property
    def wild(self):
        return self.target

    @property
    def names(self):
        return [t.iqn for t in (self.target, self.others[0])]

    @property
    def kept(self):
        return self.others[1]

    def keeper(self, **options):
        return self.connect(target=self.kept.iqn, through=self.kept, initiator=KEEPER,
                            **options).ready()

    def change(self, dice):
        """One change; what does not fit now is refused."""
        path, group = f"/srpt/{dice.choice(self.names)}", f"ramdisk/rd{dice.randrange(2)}"
        acl, size = dice.choice(WILD), f"{16 + dice.randrange(16)}M"
        sessions = [s["sid"] for s in self.sessions() if s["target"] != self.kept.iqn]
        run = dice.choice((
            lambda: self.run(f"{path}/luns", "delete", f"lun{dice.randrange(3)}", force="true"),
            lambda: self.run(f"{path}/luns", "create", group),
            lambda: self.run(f"{path}/luns", "create", "ramdisk/rd2", str(dice.randrange(1, 4))),
            lambda: self.run(f"{path}/acls", "delete", acl, force="true"),
            lambda: self.run(f"{path}/acls", "create", acl),
            lambda: self.run(path, dice.choice(("disable", "enable"))),
            lambda: self.run(f"/backstores/{group}", "resize", size),
            lambda: self.set(path, "attribute", srp_max_rsp_size=str(dice.choice((40, 256, 1024)))),
            lambda: self.rpc("session.drop", sid=dice.choice(sessions)) if sessions else None,
        ))
        try:
            run()
        except Failure:
            pass

    def run(self, path, command, *positional, **named):
        return self.rpc("tree.run", path=path, command=command, positional=list(positional),
                        named=named)

    def restore(self):
        """Both wild targets serve their initiators again."""
        for name in self.names:
            for command in ([f"/srpt/{name}", "enable"], [f"/srpt/{name}/luns", "create", "ramdisk/rd0"],
                            *([f"/srpt/{name}/acls", "create", acl] for acl in WILD)):
                try:
                    self.run(*command)
                except Failure:
                    pass


def make_storm(scratch, kept=None):
    """kept: the keeper's disk, of a Configuration; a RAM disk without."""
    config = protocol.Configuration()
    disks = [config.ramdisk(f"rd{i}", 16 * MIB) for i in range(3)]
    portal = [("127.0.0.1", farblock.free_port())]
    for i in range(2):
        config.srp_target(disks[:2 - i], farblock.SRP_PORT[:-2] + f"{i + 1:02x}", WILD, portal)
    disk = kept(config, scratch) if kept else config.ramdisk("kept", 16 * MIB)
    config.srp_target([disk], farblock.SRP_PORT[:-2] + "07", (KEEPER, OTHER), portal)
    return config


def main(test, **options):
    protocol.main(test, make=make_storm, kind=StormDaemon, cpus=None, **options)
